import SecretMemory
import Synchronization
import VaultFormat

/// The keys of a ring that only the passcode opens: class keys, audit roots, and the key of header field 16.
///
/// A lock comes from any thread, while another thread works with the ring. So these keys are in one place with a mutex of its own, and
/// ``wipe()`` empties that place without waiting for the work. A use of a key holds a reference to it: the key that is in use at that
/// moment is wiped when this one use has ended.
package final class GuardedKeys: Sendable {
  /// What is open at one moment.
  struct Content: Sendable {
    var keys = OpenedKeys()
    var trust: SharedSecret?
    var isEmpty: Bool { keys.keys.isEmpty && trust == nil }
  }
  private struct State: Sendable {
    var content = Content()
    var isUsed = false
  }
  private let state = Mutex(State())
  private let generations: [GenerationKeys]

  /// - Parameter generations: The keys whose ciphers a wipe frees.
  init(beside generations: [GenerationKeys]) { self.generations = generations }

  /// Whether something of this was used since ``beginUse()``.
  package var isUsed: Bool { state.withLock { $0.isUsed } }

  /// Whether a key is open. It is no use.
  var isOpen: Bool { state.withLock { !$0.content.isEmpty } }

  /// Notes uses from now on.
  package func beginUse() { state.withLock { $0.isUsed = false } }

  /// A copy of what is open. It is no use.
  var content: Content { state.withLock { $0.content } }

  func set(_ content: Content) { state.withLock { $0.content = content } }

  /// Adds keys to those that are open.
  func add(_ opened: Content) {
    state.withLock { state in
      for (address, key) in opened.keys.keys { state.content.keys[address] = key }
      state.content.trust = opened.trust ?? state.content.trust
    }
  }

  /// Uses what is open.
  ///
  /// - Parameter body: Returns `nil` where it has found nothing, which is no use.
  func use<R: Sendable>(_ body: (borrowing Content) -> R?) -> R? {
    state.withLock { state in
      let found = body(state.content)
      if found != nil { state.isUsed = true }
      return found
    }
  }

  /// Takes over whether the keys of before were used in the present transaction.
  func follow(_ before: GuardedKeys) {
    let isUsed = before.isUsed
    state.withLock { $0.isUsed = isUsed }
  }

  /// Wipes the keys, and the ciphers of the rows, the only keys in ordinary memory.
  func wipe() {
    for keys in generations { keys.releaseCiphers() }
    state.withLock { $0.content = Content() }
  }
}
