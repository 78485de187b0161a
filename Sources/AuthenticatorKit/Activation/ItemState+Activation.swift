import VaultKit

extension ItemState {
  /// Throws unless the credential was never activated, or is active.
  ///
  /// - Throws: ``VaultError/Code/policy``; ``VaultError/Code/unsupported`` for a state that this version does not know.
  func refuseUnlessActive() throws(VaultError) {
    let why =
      switch try credentialState() {
      case .none, .active: nil as String?
      case .started: "its activation is not complete"
      case .blocked, .unlockStarted: "it is blocked"
      case .disabled: "it is disabled"
      }
    guard let why else { return }
    throw VaultError(
      .policy, "the credential is not active: \(why)", hint: "use the program that activated it")
  }
}
