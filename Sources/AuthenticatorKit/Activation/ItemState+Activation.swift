import VaultKit

extension ItemState {
  /// Throws unless the credential was never activated, or is active. Runs before a PIN is asked for: a blocked credential
  /// derives nothing.
  ///
  /// - Throws: ``VaultError/Code/blocked``, ``VaultError/Code/wrongState``; ``VaultError/Code/unsupported`` for a state that
  ///   this version does not know.
  func refuseUnlessActive() throws(VaultError) {
    switch try credentialState() {
    case .none, .active: return
    case .started:
      throw VaultError(
        .wrongState, "the activation of the credential is not complete",
        hint: Hint(.finishActivation, saying: "finish the activation"))
    case .blocked, .unlockStarted:
      throw VaultError(
        .blocked, "the credential is blocked",
        hint: Hint(.unlockCredential, saying: "unlock it with a code of the server, or synchronize it"))
    case .disabled:
      throw VaultError(
        .wrongState, "the server has disabled the credential",
        hint: Hint(.activateCredential, saying: "activate it again"))
    }
  }

  /// Sets the deadline of the present state.
  ///
  /// - Throws: ``VaultError/Code/io`` where the boot cannot be told: the deadline would never be kept.
  mutating func setDeadline(seconds: UInt64, clock: any VaultClock) throws(VaultError) {
    guard let boot = clock.bootID() else {
      throw VaultError(
        .io, "the boot id cannot be read, so no deadline can be kept",
        hint: "look at /proc/sys/kernel/random/boot_id")
    }
    let (milliseconds, isBeyond) = seconds.multipliedReportingOverflow(by: 1000)
    let (sum, isFurther) = clock.bootMilliseconds().addingReportingOverflow(milliseconds)
    deadline = isBeyond || isFurther ? .max : sum
    deadlineBoot = boot
  }

  mutating func clearDeadline() {
    deadline = 0
    deadlineBoot = []
  }

  /// Whole seconds until the deadline; 0 if it has passed, in another boot, and where the boot cannot be told.
  func secondsLeft(_ clock: any VaultClock) -> UInt64 {
    guard deadline > 0, clock.bootID() == deadlineBoot, clock.bootMilliseconds() < deadline else { return 0 }
    return (deadline - clock.bootMilliseconds() + 999) / 1000
  }
}
