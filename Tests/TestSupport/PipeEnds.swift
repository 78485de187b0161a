import CLinux
package import Foundation
import Synchronization

/// A pipe that no program gets by chance: an end that another program held would keep it open for ever.
package final class PipeEnds: Sendable {
  private let ends: Mutex<(reader: Int32, writer: Int32)>

  package init() throws {
    var both: [Int32] = [-1, -1]
    guard unsafe clinux_pipe(&both) == 0 else { throw CocoaError(.fileReadUnknown) }
    ends = Mutex((both[0], both[1]))
  }

  deinit {
    closeReading()
    closeWriting()
  }

  /// -1 after it was closed.
  package var reader: Int32 { ends.withLock { $0.reader } }
  /// -1 after it was closed.
  package var writer: Int32 { ends.withLock { $0.writer } }

  package func closeReading() {
    ends.withLock { ends in
      if ends.reader >= 0 { close(ends.reader) }
      ends.reader = -1
    }
  }

  package func closeWriting() {
    ends.withLock { ends in
      if ends.writer >= 0 { close(ends.writer) }
      ends.writer = -1
    }
  }

  package func write(_ text: String) { write(Array(text.utf8)) }

  package func write(_ bytes: [UInt8]) {
    var bytes = bytes[...]
    while !bytes.isEmpty {
      let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(writer, $0.baseAddress, $0.count) }
      guard count > 0 || errno == EINTR else { return }
      bytes = bytes.dropFirst(max(count, 0))
    }
  }

  /// What is there, as soon as something is; nothing at the end.
  package func read() -> Data {
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe bytes.withUnsafeMutableBytes {
        unsafe Glibc.read(reader, $0.baseAddress, $0.count)
      }
      if count < 0, errno == EINTR { continue }
      return Data(bytes.prefix(max(count, 0)))
    }
  }

  /// Everything until the end.
  package func readAll() -> Data {
    var all = Data()
    while case let part = read(), !part.isEmpty { all += part }
    return all
  }
}
