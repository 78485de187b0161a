import Glibc

extension Caller {
  /// The process at the other end of a Unix socket, as the kernel describes it: user, group and process (`SO_PEERCRED`), and, where
  /// they can be read, the time at which the process started and the path of its program (`/proc`).
  ///
  /// The kernel notes user, group and process when the peer connects, or when it makes the pair of sockets. Another process that has
  /// the socket too, such as a child, is not told apart. The start time belongs to the process that has the number now, so call this
  /// right after `accept`. The path is that of the program file, which says nothing about what the program does; that of a process
  /// that is not dumpable, such as `vaultctl`, cannot be read and is empty.
  ///
  /// - Parameter descriptor: A connected Unix socket. It stays open.
  /// - Throws: ``VaultError/Code/malformed`` for anything else; ``VaultError/Code/unsupported`` for a peer in a namespace of processes
  ///   that this process does not see, because all such peers would be the same caller.
  public init(peerOf descriptor: Int32) throws(VaultError) {
    let peer = try PeerCredentials(of: descriptor)
    guard peer.process > 0, let process = UInt32(exactly: peer.process) else {
      throw VaultError(
        .unsupported, "the peer of the socket is a process that this process does not see",
        hint: "run both in the same namespace of processes")
    }
    self.init(
      user: peer.user, process: process, executable: Self.link("/proc/\(process)/exe"), group: peer.group,
      started: Self.startTime(of: process))
  }

  /// Field 22 of `/proc/PID/stat` (proc(5)). The second field is a name in parentheses, which can contain spaces and parentheses
  /// itself, so the fields are counted from the last one.
  private static func startTime(of process: UInt32) -> UInt64? {
    guard let text = contents(of: "/proc/\(process)/stat"), let name = text.lastIndex(of: UInt8(ascii: ")"))
    else { return nil }
    let fields = text[(name + 1)...].split(separator: UInt8(ascii: " "))
    // The field after the name is the third.
    guard fields.count > 19 else { return nil }
    return UInt64(String(decoding: fields[19], as: UTF8.self))
  }

  /// At most 4,096 bytes of a file of `/proc`; `nil` where it cannot be read.
  private static func contents(of path: String) -> [UInt8]? {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
    return count > 0 ? Array(bytes[..<count]) : nil
  }

  private static func link(_ path: String) -> String {
    var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let length = unsafe target.withUnsafeMutableBytes {
      unsafe readlink(path, $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
    }
    return length > 0 ? String(decoding: target[..<length], as: UTF8.self) : ""
  }
}

/// What `struct ucred` has, which Swift's Glibc module lacks: three numbers of 32 bits (unix(7)).
private struct PeerCredentials {
  let process: Int32
  let user: UInt32
  let group: UInt32

  init(of descriptor: Int32) throws(VaultError) {
    var fields: [UInt32] = [0, 0, 0]
    let whole = socklen_t(fields.count * MemoryLayout<UInt32>.stride)
    var length = whole
    let result = unsafe fields.withUnsafeMutableBytes {
      unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, $0.baseAddress, &length)
    }
    // A socket of another family has a peer without a user.
    guard result == 0, length == whole, fields[1] != .max else {
      throw VaultError(
        .malformed, "descriptor \(descriptor) is not a connected Unix socket",
        hint: "give the descriptor that accept returned", underlying: result == 0 ? nil : errno)
    }
    (process, user, group) = (Int32(bitPattern: fields[0]), fields[1], fields[2])
  }
}
