import Glibc

/// What a program waits for until a test lets it go on: a named pipe that it opens for reading.
///
/// A program does so by `open(path).close()` in Python, `: < path` in a shell.
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
}
