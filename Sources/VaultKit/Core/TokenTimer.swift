import Dispatch
import Synchronization
import VaultFormat

/// Ends tokens and consents at their time while a program holds the vault open, so that their secrets do not wait in the
/// file for the next commit. A command-line tool, which ends at once, does not start it.
final class TokenTimer: Sendable {
  private struct State {
    var isStarted = false
    var next = NextTokenEnd()
    /// The timer that counts; an older one does nothing.
    var number: UInt64 = 0
  }
  private let state = Mutex(State())

  /// Counts from now on, also for what ``set(_:of:clock:)`` said before.
  func start(for session: VaultCore.Session, clock: any VaultClock) {
    let next = state.withLock { state -> NextTokenEnd? in
      guard !state.isStarted else { return nil }
      state.isStarted = true
      return state.next
    }
    if let next { schedule(next, of: session, clock: clock) }
  }

  /// Notes what the head row says.
  func set(_ next: NextTokenEnd, of session: VaultCore.Session, clock: any VaultClock) {
    let isNew = state.withLock { state in
      guard state.next != next else { return false }
      state.next = next
      return state.isStarted
    }
    if isNew { schedule(next, of: session, clock: clock) }
  }

  private func schedule(_ next: NextTokenEnd, of session: VaultCore.Session, clock: any VaultClock) {
    let number = state.withLock { state in
      state.number += 1
      return state.number
    }
    guard let left = next.millisecondsLeft(clock) else { return }
    // A boot clock that a test holds, or a boot id that cannot be read, must not make this spin.
    let wait = DispatchTimeInterval.milliseconds(Int(min(left, 86_400_000)) + 20)
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + wait) { [weak self, weak session] in
      guard let self, let session, self.state.withLock({ $0.number == number }) else { return }
      let core = VaultCore(session, environment: session.environment)
      if next.isDue(core.environment.clock) { core.endTokens() }
      self.again(next, of: session, clock: core.environment.clock)
    }
  }

  /// Counts again if the time was not over yet. A vault that could not be written waits for its next commit.
  private func again(_ next: NextTokenEnd, of session: VaultCore.Session, clock: any VaultClock) {
    guard state.withLock({ $0.next == next }), !next.isDue(clock) else { return }
    schedule(next, of: session, clock: clock)
  }
}

extension VaultCore.Session {
  /// The clocks and keys of the open vault.
  fileprivate var environment: VaultEnvironment {
    store.withLock { slot in
      let store = slot.take()!
      let environment = store.environment
      slot = consume store
      return environment
    }
  }
}

extension VaultCore {
  /// Ends the tokens and consents that are not valid now. A vault that cannot be written keeps them; they open nothing.
  func endTokens() {
    try? writing { (_: inout WriteTransaction) throws(VaultError) in }
  }

  /// From now on, ends tokens at their time, for as long as the vault is open.
  func startTokenTimer() { session.tokenTimer.start(for: session, clock: environment.clock) }
}
