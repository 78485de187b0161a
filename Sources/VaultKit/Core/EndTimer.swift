import Synchronization
import VaultFormat

/// Ends items with a life, such as tokens, at their time while a program holds the vault open, so that their secrets do not wait in the
/// file for the next commit. It knows what the opening and the commits of this program saw; what another program stored
/// later, that one ends, or the next commit. A command-line tool, which ends at once, does not start it.
final class EndTimer: Sendable {
  private struct State {
    /// Ends what is over; `nil` before the timer is started.
    var ending: (@Sendable (VaultCore) -> Void)?
    var next = NextTokenEnd()
    /// The timer that counts; an older one does nothing.
    var number: UInt64 = 0
  }
  private let state = Mutex(State())
  /// What was noted last. Each commit compares it, and a mutex costs a system call.
  private let noted = Atomic<UInt64>(0)

  /// Counts from now on, also for what ``set(_:of:clock:)`` said before.
  ///
  /// - Parameter end: Ends what is over, on another thread.
  func start(
    for session: VaultCore.Session, clock: any VaultClock, ending end: @escaping @Sendable (VaultCore) -> Void
  ) {
    let next = state.withLock { state -> NextTokenEnd? in
      guard state.ending == nil else { return nil }
      state.ending = end
      return state.next
    }
    if let next { schedule(next, of: session, clock: clock) }
  }

  /// Notes what the head row says.
  func set(_ next: NextTokenEnd, of session: VaultCore.Session, clock: any VaultClock) {
    guard noted.exchange(next.rawValue, ordering: .relaxed) != next.rawValue else { return }
    let isStarted = state.withLock { state in
      state.next = next
      return state.ending != nil
    }
    if isStarted { schedule(next, of: session, clock: clock) }
  }

  private func schedule(_ next: NextTokenEnd, of session: VaultCore.Session, clock: any VaultClock) {
    let number = state.withLock { state in
      state.number += 1
      return state.number
    }
    guard let left = next.millisecondsLeft(clock) else { return }
    count(to: next, in: min(left, Self.longest) + 20, number, of: session, clock: clock)
  }

  private func count(
    to next: NextTokenEnd, in milliseconds: UInt64, _ number: UInt64, of session: VaultCore.Session,
    clock: any VaultClock
  ) {
    clock.call(after: milliseconds) { [weak self, weak session] in
      guard let self, let session, self.state.withLock({ $0.number == number }) else { return }
      let core = VaultCore(session, environment: session.environment)
      self.state.withLock { $0.ending }?(core)
      // A commit that ended something has set the timer again.
      guard self.state.withLock({ $0.number == number && $0.next == next }) else { return }
      guard next.isDue(clock) else { return self.schedule(next, of: session, clock: clock) }
      // Another program writes, or the disk is full.
      self.count(to: next, in: Self.longest, number, of: session, clock: clock)
    }
  }

  /// How long it counts at once, in milliseconds: the clock of timers stands still while the machine sleeps.
  private static let longest: UInt64 = 60_000
}

extension VaultCore.Session {
  /// The clocks and keys of the open vault.
  fileprivate var environment: VaultEnvironment { withStore { $0.environment } }
}
