import Synchronization

/// Locks a session from any thread, also while another thread has its keys in a transaction.
///
/// It has the guarded keys of the session's present ring, and counts the locks. What opens keys says at which count it began, so that a
/// lock meanwhile wins.
package final class VaultLatch: Sendable {
  private struct State {
    var locks: UInt64 = 0
    var identity = VaultLatch.nextIdentity()
    var guarded: GuardedKeys
  }
  private let state: Mutex<State>

  package init(_ guarded: GuardedKeys) { state = Mutex(State(guarded: guarded)) }

  /// How many times the session was locked.
  package var locks: UInt64 { state.withLock { $0.locks } }

  /// A number that is new for each session of this process, after each lock, and after keys that another process made
  /// were read. Grants are bound to this number.
  package var identity: UInt64 { state.withLock { $0.identity } }

  /// ``identity`` and ``locks`` of one moment.
  package var session: (identity: UInt64, locks: UInt64) { state.withLock { ($0.identity, $0.locks) } }

  /// Wipes at once what the passcode opened.
  ///
  /// - Returns: Whether something was open.
  @discardableResult
  package func lock() -> Bool {
    state.withLock { state in
      state.locks += 1
      state.identity = Self.nextIdentity()
      return state.guarded.wipe()
    }
  }

  /// Ends what was verified under the keys of before.
  package func renewIdentity() { state.withLock { $0.identity = Self.nextIdentity() } }

  /// Opens keys of the present ring.
  ///
  /// - Parameter locks: The count when the opening began.
  /// - Returns: Whether they are open: not after a lock meanwhile.
  package func open(_ unlocked: KeyRing.Unlocked, of ring: borrowing KeyRing, at locks: UInt64) -> Bool {
    let guarded = ring.guarded
    return state.withLock { state in
      guard state.locks == locks else { return false }
      guarded.add(unlocked.content)
      return true
    }
  }

  /// Makes these the keys of the session. They are wiped at once if the session was locked since they were read.
  ///
  /// - Parameter locks: The count before they were read.
  package func hold(_ guarded: GuardedKeys, at locks: UInt64) {
    state.withLock { state in
      guarded.follow(state.guarded)
      state.guarded = guarded
      if state.locks != locks { _ = guarded.wipe() }
    }
  }

  private static let identities = Atomic<UInt64>(0)
  private static func nextIdentity() -> UInt64 { identities.add(1, ordering: .relaxed).newValue }
}
