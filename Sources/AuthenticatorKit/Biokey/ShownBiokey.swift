import SecretMemory
import VaultKit

/// A biokey that a member has opened for one use, until the commit of this use.
struct ShownBiokey: Sendable {
  /// The PIN item whose PIN it replaces.
  let pin: ItemID
  /// `D` of that PIN.
  let secret: SharedSecret
  /// How the member was verified, for the log.
  let notes: [AuditNote]
}

extension WriteTransaction {
  /// Writes what the use of a biokey leaves. The same commit must hold what the biokey permits.
  ///
  /// - Throws: ``VaultError/Code/blocked`` if the PIN was blocked meanwhile.
  mutating func settle(_ biokey: ShownBiokey) throws(VaultError) {
    guard try !reading.state(of: biokey.pin).isBlocked else { throw .pinBlocked }
    try log(biokey.notes)
  }
}
