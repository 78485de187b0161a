import SecretMemory
package import VaultKit

/// The way out of a block.
extension VaultCore {
  /// Sets a new PIN with the unlock key, and ends a block.
  package func unlockPIN(
    _ id: ItemID, with key: PINUnlockKey, keepingBiokeys: Bool = false,
    context: AuthenticationContext? = nil
  ) throws(VaultError) {
    let stored = try storedPIN(id, isUnlocking: true, context: context)
    guard stored.mode == .checked else {
      throw VaultError(
        .policy, "a camouflaged PIN is never blocked here", hint: "ask the server to unblock it")
    }
    let secret: SharedSecret
    do throws(VaultError) {
      secret = try stored.record.unwrapped(by: key, of: id, vault: stored.vault)
    } catch {
      // The refusal remains in force if the log cannot be written.
      logWherePossible([
        AuditNote(
          operation: .pinUnlocked, item: stored.id, kind: .pin, result: error.auditResult,
          detail: error.message)
      ])
      throw error
    }
    try replacePIN(
      of: stored, wrapping: secret, keepingBiokeys: keepingBiokeys, as: .pinUnlocked, context: context
    ) { _ in }
  }
}
