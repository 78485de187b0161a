import Foundation

/// A named pipe at which a program waits until the test lets it go on: the kernel lets it open its end when the other end is open.
package final class NamedPipe {
  package let path: String
  private var descriptor: Int32 = -1

  package init(_ path: String) throws {
    self.path = path
    guard unsafe mkfifo(path, 0o600) == 0 else { throw CocoaError(.fileWriteUnknown) }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Lets programs go on that open it, now or later.
  package func open() {
    if descriptor < 0 { descriptor = unsafe Glibc.open(path, O_RDWR | O_CLOEXEC) }
  }

  /// The text that a program writes in one piece; it goes on from here.
  ///
  /// - Throws: ``NeverHappened``.
  package func text() throws -> String {
    open()
    try waitUntil("a program writes to \(path)") {
      var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      return unsafe poll(&wait, 1, 0) > 0
    }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
    return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
  }
}
