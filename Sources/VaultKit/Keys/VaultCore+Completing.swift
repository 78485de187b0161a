import SealedStorage
import VaultFormat
import VaultKeys
import VaultStorage

/// What could not be made without the passcode, and is made as soon as the vault is unlocked.
extension VaultCore {
  /// Makes the classes of this device that a restore or a recovery could not make without the passcode.
  func completeClasses(with keys: PasscodeKeys, for validity: CallValidity) throws(VaultError) {
    let present = try keysNow()
    let isComplete = present.slots.contains { Self.isClassKey($0, number: 0x83, of: present.header) }
    guard present.header.hasPasscode, !isComplete, !isReadOnly else { return }
    var transaction = try beginWriting()
    var change = try transaction.beginKeyChange()
    if change.header.passcodeDerivation == keys.derivation {
      for number: UInt32 in [0x81, 0x83]
      where !change.slots.contains(where: { Self.isClassKey($0, number: number, of: change.header) }) {
        try change.putUnlock(.classKey, subject: number, key: try change.freshKey(), passcode: keys)
      }
    }
    try transaction.write(change, as: .rotated)
    try transaction.commit()
    try adopt(keys, for: validity)
  }

  private static func isClassKey(_ slot: SlotRow, number: UInt32, of header: Header) -> Bool {
    slot.kind == SlotKind.classKey.rawValue && slot.subject == number && slot.generation == header.generation
  }

  /// Completes a change of the set that was made while the vault was locked, and removes a recovery half that a
  /// restore revoked. Does nothing in a locked session.
  func completeEnrolledSet() throws(VaultError) {
    let header = try keysNow().header
    let revoked = header.hasPasscode ? header.revoked : []
    guard !revoked.isEmpty, isUnlocked, !isReadOnly else { return }
    let isSetDue = revoked != [.recovery]
    var transaction = try beginWriting()
    var change = try transaction.beginKeyChange()
    if let trust = transaction.store.keys.trustKey { _ = try change.completeSet(trust: trust) }
    try transaction.write(
      change, as: isSetDue ? .memberRemoved : .recoveryCodeRemoved,
      detail: isSetDue ? "the next set was made" : "revoked by a restore")
    try transaction.commit()
  }
}
