import SecretMemory
import VaultKit

/// An unlock with a new PIN: by the unlock key that the peer keeps, or by a new secret of the peer.
extension VaultCore {
  /// Asks for the new PIN and makes its key, before the peer is asked: what ends here uses no code.
  ///
  /// - Throws: ``VaultError/Code/policy`` if only a new secret can end the block, and others are behind the PIN.
  func newPIN(
    for unlock: UnlockUnderWay, _ stored: StoredPIN?, context: AuthenticationContext?
  ) throws(VaultError) -> UnlockingPIN {
    guard let stored else { throw .noCheckedPIN }
    if !stored.record.hasUnlockKey {
      var transaction = try beginReading()
      try transaction.refuseOthers(behind: stored, than: unlock.item)
    }
    return try askingPIN(stored.requestForNew, context: context) { (pin, shown) throws(VaultError) in
      try CommonPINs.refuse(pin, of: .checked)
      try refusePasscode(pin, context: context)
      return UnlockingPIN(key: try NewPINKey(pin, in: environment), notes: shown.notes(.newPIN))
    }
  }

  /// Sets the new PIN, after the peer accepted the code.
  func setNewPIN(
    _ new: UnlockingPIN, for unlock: UnlockUnderWay, _ stored: StoredPIN, by answer: TransportFields,
    context: AuthenticationContext?
  ) throws(VaultError) {
    if let key = try answer.secret("unlockKeyBase64", 16...16) {
      let secret: SharedSecret
      do throws(VaultError) {
        secret = try stored.record.unwrapped(by: PINUnlockKey(key), of: stored.id, vault: stored.vault)
      } catch { throw .peerAnswered("'unlockKeyBase64' does not open the PIN") }
      let record = try PINRecord.wrapping(
        secret.bytes, under: new.key, of: stored.id, vault: stored.vault, replacing: stored.record,
        environment: environment)
      return try commit(new, record, of: stored, ending: unlock, context: context) { _ throws(VaultError) in }
    }
    let fields = try TransportFields.required(
      "unlockKeyBase64' or 'credential", answer.fields("credential"))
    let credential = try NewPeerCredential(fields)
    guard credential.attributes[.otpType] == unlock.item.attributes[.otpType] else {
      throw .peerAnswered("'credential' has another type than the credential that is unlocked")
    }
    let secret = SharedSecret(try environment.random.newSecret(32))
    let record = try PINRecord.wrapping(
      secret.bytes, under: new.key, of: stored.id, vault: stored.vault, environment: environment)
    try commit(new, record, of: stored, ending: unlock, context: context) { transaction throws(VaultError) in
      let item = try transaction.reading.present(PeerCredential(unlock.item))
      try transaction.reading.refuseOthers(behind: stored, than: item)
      try transaction.replace(item, by: credential, component: Component(.otp, pin: .checked(secret)))
    }
  }

  private func commit(
    _ new: UnlockingPIN, _ record: PINRecord, of stored: StoredPIN, ending unlock: UnlockUnderWay,
    context: AuthenticationContext?, _ change: (inout WriteTransaction) throws(VaultError) -> Void
  ) throws(VaultError) {
    var transaction = try beginWriting(.secret(.replace, of: stored.id, by: .pin), context: context)
    guard try transaction.reading.materialVersion(of: stored.id) == stored.material else {
      throw .pinChanged
    }
    try transaction.end(unlock)
    _ = try transaction.update(
      stored.id, ItemChanges(), secret: record.data.bytes.copy(), by: .pin)
    try transaction.changeState(of: stored.id) { $0.unlockPIN() }
    try transaction.deleteBiokeys(of: stored.id)
    try change(&transaction)
    try transaction.log(new.notes)
    try transaction.log(.pinUnlocked, item: stored.item)
    try transaction.commit()
  }
}

extension ReadTransaction {
  /// A new secret of one credential leaves the others without the key that they are behind.
  fileprivate mutating func refuseOthers(behind stored: StoredPIN, than credential: Item) throws(VaultError) {
    let others = try items(matching: .all).filter {
      $0.policy.guardingPINItem == stored.id && $0.id != credential.id
    }
    guard !others.isEmpty else { return }
    let names = others.prefix(5).map { "'\($0.name ?? $0.id.hexadecimal)'" }.joined(separator: ", ")
    throw VaultError(
      .policy,
      "without an unlock key, only a new secret ends the block, and \(others.count) more behind the PIN would be lost: "
        + names,
      hint: "delete them first, or have the server end the block with the current PIN")
  }
}

/// A new PIN that was typed for an unlock.
struct UnlockingPIN {
  let key: NewPINKey
  /// How it was given, for the log.
  let notes: [AuditNote]
}

extension WriteTransaction {
  /// Puts a new secret in the place of a credential whose old one nothing opens any more. The item keeps its identifier, its
  /// expiry and all that was said about it.
  fileprivate mutating func replace(
    _ old: Item, by new: NewPeerCredential, component: Component
  ) throws(VaultError) {
    let state = try state(of: old.id)
    try destroy(old.id)
    var item = new.item(
      named: old.name ?? old.id.hexadecimal, described: old.lastingAttributes, access: old.access,
      now: reading.expiryTime)
    item.id = old.id
    item.guardingPIN = try old.guardingPIN()
    (item.audit, item.expires) = (old.audit, old.expires)
    item.state.secondsOffset = state.secondsOffset
    _ = try add(item, secret: new.secret.bytes.copy(), by: component)
  }
}

extension VaultError {
  fileprivate static var noCheckedPIN: VaultError {
    VaultError(
      .policy, "the server asks for a new PIN, and no checked PIN guards the credential",
      hint: .activateCredential)
  }
}
