import SealedStorage
import VaultFormat
import VaultKeys
import SecretMemory
import VaultCrypto
import VaultStorage

extension VaultCore {
  /// A recovery code that opens nothing until ``setRecoveryCode(_:)`` makes it the vault's.
  package func freshRecoveryCode() throws(VaultError) -> RecoveryCode {
    try RecoveryCode.fresh(random: environment.random)
  }

  /// Makes a code the vault's recovery code, in one commit; the old code works until then. If another process has
  /// changed the keys in the meantime, this reads the keys again and seals them for the same code.
  ///
  /// - Throws: ``VaultError/Code/locked``, because in a vault with a passcode only an unlocked session can
  ///   authenticate the new public half.
  package func setRecoveryCode(_ code: borrowing RecoveryCode) throws(VaultError) {
    let notes = code.shown?.notes(.newRecoveryCode) ?? []
    // A person may have taken long to write the code down, and the vault been locked meanwhile.
    var transaction = try beginWriting(.unlocked, context: nil)
    var change = try transaction.beginKeyChange()
    try transaction.log(notes)
    try change.setRecovery(code, trust: try change.authenticator(transaction.store.keys.trustKey))
    try transaction.write(change, as: .recoveryCodeMade)
    try transaction.commit()
  }

  /// Makes a new recovery code. The old one no longer works.
  ///
  /// - Throws: As ``setRecoveryCode(_:)``.
  package func makeRecoveryCode() throws(VaultError) -> RecoveryCode {
    let code = try freshRecoveryCode()
    try setRecoveryCode(code)
    return code
  }

  /// Removes the recovery code. It no longer opens anything.
  ///
  /// - Throws: ``VaultError/Code/policy`` if there is none; ``VaultError/Code/locked``.
  package func removeRecoveryCode() throws(VaultError) {
    var transaction = try beginWriting(.unlocked, context: nil) { (look) throws(VaultError) in
      guard look.store.keys.header.recoveryHalf != nil else {
        throw VaultError(.policy, "this vault has no recovery code", hint: .makeRecoveryCode)
      }
    }
    var change = try transaction.beginKeyChange()
    let trust = try change.authenticator(transaction.store.keys.trustKey)
    try change.removeRecovery(trust: trust)
    try transaction.write(change, as: .recoveryCodeRemoved)
    try transaction.commit()
  }

  /// Opens the root keys with a recovery code, as a recovery does, but changes nothing. Needs no device key.
  ///
  /// - Throws: ``VaultError/Code/authenticationFailed`` if the code does not open the vault.
  package static func checkRecoveryCode(
    _ code: borrowing RecoveryCode, at path: String, environment: VaultEnvironment = .system
  ) throws(VaultError) {
    var rows = try VaultRows.open(at: path, access: .readOnly)
    try rows.beginRead()
    let row = try rows.header()
    let slots = try rows.slots()
    let header = try Header(decoding: row.body)
    try refuseForeign(header, environment: environment)
    guard let half = header.recoveryHalf else {
      throw VaultError(
        .authenticationFailed, "no recovery code opens this vault: it has none",
        hint: .makeRecoveryCode)
    }
    try code.check(isOf: half)
    let ring = try KeyRing(header: row, slots: slots, recovery: code, environment: environment)
    var store = SealedStore(rows: rows, keys: ring, environment: environment)
    let head = try store.head()
    try store.keys.check(head)
    store.rows.rollback()
  }

  /// The same for the file of this vault, as it is now.
  package func checkRecoveryCode(_ code: borrowing RecoveryCode) throws(VaultError) {
    try Self.checkRecoveryCode(code, at: withStore { $0.rows.path }, environment: environment)
  }

  /// Compares a code with the vault's public half. Proves less than ``checkRecoveryCode(_:)``, but enough to keep the
  /// code.
  ///
  /// - Throws: ``VaultError/Code/policy`` if there is none, ``VaultError/Code/authenticationFailed`` for another
  ///   vault's code.
  package func checkRecoveryHalf(of code: borrowing RecoveryCode) throws(VaultError) {
    guard let half = try keysNow().header.recoveryHalf else { throw RecoveryCode.isAbsent }
    try code.check(isOf: half)
  }
}
