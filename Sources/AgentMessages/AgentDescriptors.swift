import Glibc
import Synchronization

/// The descriptors that came with a message. Those that are not taken are closed with it.
package final class AgentDescriptors: Sendable {
  /// How a process ends a descriptor that came from another. The agent keeps one of a file of an open vault: closing it
  /// would release the locks of the whole process on that file.
  package typealias Close = @Sendable (Int32) -> Void

  private let left: Mutex<[Int32]>
  private let end: Close
  package let count: Int

  package init(owning descriptors: [Int32] = [], closing end: @escaping Close = { _ = Glibc.close($0) }) {
    left = Mutex(descriptors)
    count = descriptors.count
    self.end = end
  }

  /// Descriptors to be sent that stay the sender's.
  package convenience init(lending descriptors: [Int32]) {
    self.init(owning: descriptors, closing: { _ in })
  }

  deinit { for descriptor in left.withLock({ $0 }) { end(descriptor) } }

  /// Lends those that were not taken to `body`.
  package func lend<R: ~Copyable, E: Error>(_ body: ([Int32]) throws(E) -> R) throws(E) -> R {
    let descriptors = left.withLock { $0 }
    defer { withExtendedLifetime(self) {} }
    return try body(descriptors)
  }

  /// All of them, in their order; the caller closes them. Nothing after the first call.
  package func take() -> [Int32] {
    left.withLock { left in
      defer { left = [] }
      return left
    }
  }
}
