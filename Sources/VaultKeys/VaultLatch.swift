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
    /// What was told last.
    var isToldOpen: Bool
    var observer: (@Sendable (VaultEvent) -> Void)?

    mutating func tell(isOpen: Bool) {
      guard isToldOpen != isOpen else { return }
      isToldOpen = isOpen
      observer?(isOpen ? .unlocked : .locked)
    }
  }
  private let state: Mutex<State>

  package init(_ guarded: GuardedKeys) {
    state = Mutex(State(guarded: guarded, isToldOpen: guarded.isOpen))
  }

  /// Whether keys that the passcode opens are open, as far as this process knows.
  package var isOpen: Bool { state.withLock { $0.guarded.isOpen } }

  /// Calls `observer` with each event, in their order. It must not call the latch.
  package func observe(_ observer: @escaping @Sendable (VaultEvent) -> Void) {
    state.withLock { $0.observer = observer }
  }

  /// How many times the session was locked.
  package var locks: UInt64 { state.withLock { $0.locks } }

  /// A number that is new for each session of this process, after each lock, and after keys that another process made
  /// were read. Grants are bound to this number.
  package var identity: UInt64 { state.withLock { $0.identity } }

  /// ``identity`` and ``locks`` of one moment.
  package var session: (identity: UInt64, locks: UInt64) { state.withLock { ($0.identity, $0.locks) } }

  /// Wipes at once what the passcode opened.
  package func lock() {
    state.withLock { state in
      state.locks += 1
      state.identity = Self.nextIdentity()
      state.guarded.wipe()
      state.tell(isOpen: false)
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
      state.tell(isOpen: true)
      return true
    }
  }

  /// Makes these the keys of the session. They are wiped at once if the session was locked since they were read.
  ///
  /// - Parameters:
  ///   - locks: The count before they were read.
  ///   - origin: Who made them.
  package func hold(_ guarded: GuardedKeys, at locks: UInt64, madeBy origin: Origin) {
    state.withLock { state in
      guarded.follow(state.guarded)
      state.guarded = guarded
      if state.locks != locks { guarded.wipe() }
      switch origin {
      // What a new passcode of this session opens is opened right after this.
      case .session: break
      case .other:
        state.observer?(.keysChanged)
        state.tell(isOpen: guarded.isOpen)
      }
    }
  }

  /// Who made keys.
  package enum Origin {
    case session, other
  }

  private static let identities = Atomic<UInt64>(0)
  private static func nextIdentity() -> UInt64 { identities.add(1, ordering: .relaxed).newValue }
}
