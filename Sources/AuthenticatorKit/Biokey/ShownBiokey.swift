import SecretMemory
import VaultKit

/// A biokey that a member has opened for one use, until the commit of this use.
struct ShownBiokey: Sendable {
  /// The PIN item whose PIN it replaces.
  let pin: ItemID
  /// The version of that item's data.
  let pinData: UInt64
  /// `D` of that PIN.
  let secret: SharedSecret
  /// As ``StoredPIN/settledMark``.
  let settledMark: [AuditNote]?
  /// That the member was verified.
  let proof: VerificationProof
  /// How the member was verified, for the log.
  let notes: [AuditNote]

  /// Whether the file had been copied or restored since the last PIN.
  var wasMarked: Bool { settledMark != nil }
}

extension WriteTransaction {
  /// Writes what the use of a biokey leaves. The same commit must hold what the biokey permits.
  ///
  /// - Throws: ``VaultError/Code/blocked`` if the PIN was blocked meanwhile; ``VaultError/Code/busy`` if it was marked or changed,
  ///   or if the biokey or its member is gone; ``VaultError/Code/verificationNeeded`` after 30 s.
  mutating func writeUse(of biokey: ShownBiokey) throws(VaultError) {
    let state = try reading.state(of: biokey.pin)
    guard !state.isBlocked else { throw .pinBlocked }
    guard biokey.wasMarked || !state.needsResync else { throw .pinChanged }
    guard try reading.materialVersion(of: biokey.pin) == biokey.pinData, !hasMarked else {
      throw .pinChanged
    }
    try confirm(biokey.proof)
    if let mark = biokey.settledMark {
      try changeState(of: biokey.pin) { $0.needsResync = false }
      try log(mark)
    }
    try log(biokey.notes)
  }
}
