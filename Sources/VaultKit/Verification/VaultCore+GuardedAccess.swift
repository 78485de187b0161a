import SealedStorage
package import VaultFormat
import VaultStorage

extension ReadTransaction {
  /// The vault that this is a state of.
  package var vault: VaultID { store.vault }

  /// The clocks of this process.
  package var clock: any VaultClock { store.environment.clock }

  /// The version of an item's secret; it changes when the secret is replaced.
  package mutating func materialVersion(of id: ItemID) throws(VaultError) -> UInt64 {
    try store.row(of: id).material
  }
}

extension AuthenticationContext {
  /// The call waits again, and its caller need not.
  package func endUse() { call?.endUse() }

  /// Whether a secret can be had without a person: it was given to this context, or the prompt's channel has it.
  package func isGiven(_ subject: PromptRequest.Subject) throws(VaultError) -> Bool {
    if memory.given(subject) != nil { return true }
    guard interaction == .allowed, let prompt else { return false }
    return try prompt.givenSecret(for: PromptRequest(subject, operation: "find out what was given")) != nil
  }
}
