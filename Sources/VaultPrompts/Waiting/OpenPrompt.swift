import Glibc
import Synchronization

/// What a prompt value knows of itself while it is open, so that another thread can end it.
final class OpenPrompt: Sendable {
  private let wake = Mutex<Int32>(-1)

  /// Until ``close()``, ``cancel()`` writes a 0 to `descriptor`.
  func open(_ descriptor: Int32) { wake.withLock { $0 = descriptor } }

  /// - Postcondition: Nobody writes to the descriptor any more.
  func close() { wake.withLock { $0 = -1 } }

  /// Ends the prompt as a person would who declines.
  func cancel() {
    wake.withLock { descriptor in
      var byte: UInt8 = 0
      if descriptor >= 0 { _ = unsafe write(descriptor, &byte, 1) }
    }
  }
}
