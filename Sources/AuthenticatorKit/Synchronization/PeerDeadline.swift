import VaultKit

/// How long a peer waits for something, on the clock since boot.
struct PeerDeadline {
  private let deadline: Deadline
  private let clock: any VaultClock

  /// - Throws: ``VaultError/Code/io`` where the boot cannot be told.
  init(seconds: UInt64, clock: any VaultClock) throws(VaultError) {
    self.clock = clock
    deadline = try Deadline(seconds: seconds, clock: clock)
  }

  /// - Throws: ``VaultError/Code/expired`` after it.
  func check() throws(VaultError) {
    guard deadline.secondsLeft(BootTime(clock)) == 0 else { return }
    throw VaultError(.expired, "the server no longer waits for the code", hint: "begin again")
  }
}
