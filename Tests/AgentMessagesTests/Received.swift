import AgentMessages
import CLinux
import Foundation
import Synchronization
import TestSupport
import Testing

/// What tests send as an end that keeps to no rule.
struct RawEnd: ~Copyable {
  let socket: AgentSocket
  private let other: Int32

  /// The socket, and an end for raw bytes.
  init(closing end: @escaping AgentDescriptors.Close = { _ = close($0) }) throws {
    var ends: [Int32] = [-1, -1]
    try #require(unsafe clinux_packet_pair(&ends) == 0)
    socket = AgentSocket(owning: ends[0], closing: end)
    other = ends[1]
  }

  deinit { close(other) }

  /// - Returns: 0, or an errno value.
  @discardableResult
  func send(_ bytes: [UInt8], descriptors: [Int32] = []) -> Int32 {
    unsafe clinux_send_packet(other, bytes, bytes.count, descriptors, descriptors.count, false)
  }

  /// Sends so many copies of one descriptor, up to the 253 that the kernel passes.
  ///
  /// - Returns: 0, or an errno value.
  func flood(_ bytes: [UInt8], with descriptor: Int32, times count: Int) -> Int32 {
    // struct cmsghdr: its length, SOL_SOCKET and SCM_RIGHTS; then the descriptors.
    var control = [UInt64](repeating: 0, count: 2 + (count + 1) / 2)
    control[0] = UInt64(16 + 4 * count)
    control[1] = 1 | 1 << 32
    for index in 0..<count {
      control[2 + index / 2] |= UInt64(UInt32(descriptor)) << (index.isMultiple(of: 2) ? 0 : 32)
    }
    var bytes = bytes
    return unsafe bytes.withUnsafeMutableBytes { bytes in
      unsafe control.withUnsafeMutableBytes { control in
        var part = unsafe iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
        return unsafe withUnsafeMutablePointer(to: &part) { part in
          var message = unsafe msghdr()
          unsafe (message.msg_iov, message.msg_iovlen) = (part, 1)
          unsafe (message.msg_control, message.msg_controllen) = (control.baseAddress, control.count)
          return unsafe sendmsg(other, &message, Int32(MSG_NOSIGNAL)) < 0 ? errno : 0
        }
      }
    }
  }

  func receives(_ error: AgentMessageError, at location: SourceLocation = #_sourceLocation) {
    #expect(throws: error, sourceLocation: location) { try socket.receive(waits: false) }
  }
}

/// The open descriptors of this process that lead to this file.
func descriptors(of path: String) throws -> Int {
  try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + name)) == path
  }
}

/// A file of its own that can be opened many times and counted.
struct CountedFile: ~Copyable {
  let path: String
  private let own: [Int32]

  init(openings: Int) throws {
    let folder = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
    path = folder.appendingPathComponent("agent-messages-\(UUID().uuidString)").path
    try Data().write(to: URL(fileURLWithPath: path))
    let file = path
    own = (0..<openings).map { _ in unsafe open(file, O_RDONLY | O_CLOEXEC) }
  }

  deinit {
    for descriptor in own { close(descriptor) }
    _ = unsafe unlink(path)
  }

  var descriptors: [Int32] { own }
}

/// Counts calls from any thread.
final class Counter: Sendable {
  private let value = Mutex(0)

  var count: Int { value.withLock { $0 } }
  func add() { value.withLock { $0 += 1 } }
}
