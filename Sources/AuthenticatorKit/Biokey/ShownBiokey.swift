import SecretMemory
import VaultKit

/// A biokey that a member has opened for one use, until the commit of this use.
struct ShownBiokey: Sendable {
  /// The PIN item whose PIN it replaces.
  let pin: ItemID
  /// `D` of that PIN.
  let secret: SharedSecret
  /// Whether the passcode was verified because the file is a copy or an older state.
  let wasMarked: Bool
  /// How the member was verified, for the log.
  let notes: [AuditNote]
}

extension WriteTransaction {
  /// Writes what the use of a biokey leaves. The same commit must hold what the biokey permits.
  ///
  /// - Throws: ``VaultError/Code/blocked`` if the PIN was blocked meanwhile, ``VaultError/Code/busy`` if it was marked.
  mutating func settle(_ biokey: ShownBiokey) throws(VaultError) {
    let state = try reading.state(of: biokey.pin)
    guard !state.isBlocked else { throw .pinBlocked }
    guard biokey.wasMarked || !state.needsResync else { throw .pinChanged }
    try log(biokey.notes)
  }
}
