import Glibc

/// What a program waits for until a test lets it go on: a named pipe that it opens.
///
/// A program does so by `open(path).close()` in Python, `: < path` in a shell; or it opens the pipe to write something there.
package final class Latch {
  package let path: String
  private var descriptor: Int32 = -1

  package struct Failure: Error { let code: Int32 }

  package init(_ path: String) throws {
    self.path = path
    guard unsafe mkfifo(path, 0o600) == 0 else { throw Failure(code: errno) }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Whoever waits goes on, and whoever comes later does not wait.
  package func release() {
    if descriptor < 0 { descriptor = unsafe open(path, O_RDWR | O_CLOEXEC) }
  }

  /// Releases the program, and returns what it then writes in one piece.
  ///
  /// - Throws: ``NeverHappened``.
  package func text() throws -> String {
    release()
    try waitUntil("something is written to \(path)") {
      var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      return unsafe poll(&wait, 1, 0) > 0
    }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
    return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
  }
}
