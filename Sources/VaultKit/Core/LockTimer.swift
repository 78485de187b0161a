import Synchronization
import VaultFormat

/// Locks an open vault at a time of the boot clock, which counts while the machine sleeps.
final class LockTimer: Sendable {
  /// The timer that counts; an older one does nothing.
  private let number = Atomic<UInt64>(0)

  /// Forgets the time that was set.
  func cancel() { number.add(1, ordering: .relaxed) }

  /// Locks when the time has passed, and forgets the time that was set before.
  func set(after milliseconds: UInt64, _ core: VaultCore) {
    let number = number.add(1, ordering: .relaxed).newValue
    let (end, isOver) = core.environment.clock.bootMilliseconds().addingReportingOverflow(milliseconds)
    count(to: isOver ? .max : end, number, of: core.session, environment: core.environment)
  }

  private func count(
    to end: UInt64, _ number: UInt64, of session: VaultCore.Session, environment: VaultEnvironment
  ) {
    let now = environment.clock.bootMilliseconds()
    // The clock of timers stands still while the machine sleeps, so the boot clock is asked from time to time.
    environment.clock.call(after: min(end - min(now, end), Self.longest)) { [weak self, weak session] in
      guard let self, let session, self.number.load(ordering: .relaxed) == number else { return }
      guard environment.clock.bootMilliseconds() >= end else {
        return self.count(to: end, number, of: session, environment: environment)
      }
      VaultCore(session, environment: environment).lock()
    }
  }

  /// How long it counts at once, in milliseconds.
  private static let longest: UInt64 = 10_000
}
