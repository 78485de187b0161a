package import VaultKit

extension ItemState {
  /// - Throws: ``VaultError/Code/unsupported`` for a state that this version does not know.
  package func credentialState() throws(VaultError) -> CredentialState {
    try progress(as: CredentialState.self)
  }
  package mutating func set(_ state: CredentialState) { progress = state.number }

  /// Throws unless the credential was never activated, or is active. Runs before a PIN is asked for: a blocked credential
  /// derives nothing.
  ///
  /// - Throws: ``VaultError/Code/blocked``, ``VaultError/Code/wrongState``; ``VaultError/Code/unsupported`` for a state that
  ///   this version does not know.
  func refuseUnlessActive() throws(VaultError) {
    switch try credentialState() {
    case .none, .active: return
    case .started: throw .activationIncomplete
    case .blocked, .unlockStarted:
      throw VaultError(.blocked, "the credential is blocked", hint: .unlockCredential)
    case .disabled:
      throw VaultError(.wrongState, "the server has disabled the credential", hint: .activateCredential)
    }
  }

  /// Whole seconds until the deadline; 0 without one, if it has passed, in another boot, and where the boot cannot be told.
  func secondsLeft(_ clock: any VaultClock) -> UInt64 { deadline?.secondsLeft(BootTime(clock)) ?? 0 }

  /// The state that follows from an event.
  ///
  /// - Throws: ``VaultError/Code/wrongState`` if the event is refused in the present state.
  mutating func apply(_ event: CredentialEvent) throws(VaultError) {
    guard let next = try credentialState().after(event) else {
      throw VaultError(.wrongState, "the credential is not in a state for that", hint: .showCredentialStatus)
    }
    set(next)
  }
}

extension VaultClock {
  /// Refuses what needs a deadline before a server is asked for it.
  ///
  /// - Throws: ``VaultError/Code/io``.
  func refuseWithoutBoot() throws(VaultError) {
    guard bootID() != nil else { throw .bootUnreadable }
  }
}

extension VaultError {
  static var activationIncomplete: VaultError {
    VaultError(.wrongState, "the activation of the credential is not complete", hint: .finishActivation)
  }
}
