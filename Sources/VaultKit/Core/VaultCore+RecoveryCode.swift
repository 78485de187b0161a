import SealedStorage
import VaultFormat
import VaultKeys
import SecretMemory
import VaultCrypto
import VaultStorage

/// What happens to the recovery code when a first passcode is set.
public enum RecoveryChoice: ~Copyable, Sendable {
  /// It stays valid: the person gives the code.
  case keep(RecoveryCode)
  /// It no longer works.
  case drop
}

extension VaultCore {
  /// A recovery code that opens nothing yet: ``setRecoveryCode(_:)`` makes it the vault's.
  package func freshRecoveryCode() throws(VaultError) -> RecoveryCode {
    try RecoveryCode.fresh(random: environment.random)
  }

  /// Makes a code the vault's recovery code, in one commit; the old code works until then. When another process has
  /// changed the keys meanwhile, they are read again, and the same code is sealed for them.
  ///
  /// - Throws: ``VaultError/Code/locked``: with a passcode set, the new public half is authenticated by its holder.
  package func setRecoveryCode(_ code: borrowing RecoveryCode) throws(VaultError) {
    let notes = code.shown?.notes(.newRecoveryCode) ?? []
    try changeKeys(.recoveryCodeMade) { change, transaction throws(VaultError) in
      try transaction.log(notes)
      try change.setRecovery(code, trust: try change.authenticator(transaction.store.keys.trustKey))
    }
  }

  /// Makes a new recovery code in place of the old one, which no longer works from then on.
  ///
  /// - Throws: As ``setRecoveryCode(_:)``.
  package func makeRecoveryCode() throws(VaultError) -> RecoveryCode {
    let code = try freshRecoveryCode()
    try setRecoveryCode(code)
    return code
  }

  /// Removes the recovery code: it opens nothing from then on.
  ///
  /// - Throws: ``VaultError/Code/policy`` where there is none; ``VaultError/Code/locked``.
  package func removeRecoveryCode() throws(VaultError) {
    try changeKeys(.recoveryCodeRemoved) { change, transaction throws(VaultError) in
      let trust = try change.authenticator(transaction.store.keys.trustKey)
      guard change.header.recoveryHalf != nil else {
        throw VaultError(.policy, "this vault has no recovery code", hint: .makeRecoveryCode)
      }
      try change.removeRecovery(trust: trust)
    }
  }

  /// Opens the root keys with a recovery code, as a recovery does, and changes nothing. Needs no device key.
  ///
  /// - Throws: ``VaultError/Code/authenticationFailed`` where the code does not open the vault.
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
    let ring = try KeyRing(header: row, slots: slots, recovery: code, random: environment.random)
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
  /// - Throws: ``VaultError/Code/policy`` where there is none, ``VaultError/Code/authenticationFailed`` for another one.
  package func checkRecoveryHalf(of code: borrowing RecoveryCode) throws(VaultError) {
    let half = try withHeader { header, _, _ throws(VaultError) in header.recoveryHalf }
    guard let half else { throw RecoveryCode.isAbsent }
    try code.check(isOf: half)
  }
}

/// A ``RecoveryChoice`` as the change needs it: the public half of the code that was shown.
struct RecoverySettlement {
  private let isChosen: Bool
  private let shown: [UInt8]?
  /// How the code was shown.
  let notes: [AuditNote]

  init(_ choice: consuming RecoveryChoice?) throws(VaultError) {
    switch consume choice {
    case .none: (isChosen, shown, notes) = (false, nil, [])
    case .some(.drop): (isChosen, shown, notes) = (true, nil, [])
    case .some(.keep(let code)):
      (isChosen, shown, notes) = (true, try code.publicKey(), code.shown?.notes(.recoveryCode) ?? [])
    }
  }

  /// Whether the recovery half stays; `false` also where there is none.
  ///
  /// - Throws: ``VaultError/Code/policy`` where nothing was chosen, ``VaultError/Code/authenticationFailed`` for another
  ///   vault's code.
  func keeps(_ header: Header) throws(VaultError) -> Bool {
    guard let half = header.recoveryHalf else {
      guard shown == nil else {
        throw VaultError(.policy, "this vault has no recovery code", hint: "leave it out")
      }
      return false
    }
    guard isChosen else {
      throw VaultError(
        .policy,
        "the vault has a recovery code, which somebody else could have made while there was no passcode",
        hint: "show the code to keep it, or drop it")
    }
    guard let shown else { return false }
    guard isEqualInConstantTime(shown, half) else { throw RecoveryCode.isAnother }
    return true
  }

  /// Keeps or drops the recovery half; `true` when one was dropped. A kept half gets new slots, because the old ones
  /// may not open with its code.
  func settle(_ change: inout KeyChange) throws(VaultError) -> Bool {
    if try keeps(change.header) {
      try change.putRecovery()
      return false
    }
    let isDropped = change.header.recoveryHalf != nil
    try change.removeRecovery()
    return isDropped
  }
}
