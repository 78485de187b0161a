import SecretMemory
import VaultKit

/// A PIN item as one transaction finds it, with its data open.
struct StoredPIN: Sendable {
  let item: Item
  let state: ItemState
  let record: PINRecord
  /// The version of the data: a change of a checked PIN makes another.
  let material: UInt64
  let vault: VaultID
  let policy: PINPolicy
  /// What to log when the mark of a copied or restored file is cleared; `nil` without a mark, or before it is settled.
  var settledMark: [AuditNote]?

  /// - Parameter isUnlocking: Whether a block does not matter.
  /// - Throws: ``VaultError/Code/blocked`` before anything is opened, ``VaultError/Code/locked``,
  ///   ``VaultError/Code/itemNotFound``, ``VaultError/Code/damaged``.
  init(_ id: ItemID, in transaction: inout ReadTransaction, isUnlocking: Bool = false) throws(VaultError) {
    (item, state) = try Self.check(id, in: &transaction, isUnlocking: isUnlocking)
    policy = try item.pinPolicy()
    record = try PINRecord(transaction.useSecret(of: item, by: .pin).intoSecret())
    material = try transaction.materialVersion(of: id)
    vault = transaction.vault
  }

  /// What can be known of a PIN item in a locked vault.
  ///
  /// - Throws: As ``init(_:in:isUnlocking:)``, without ``VaultError/Code/locked``.
  @discardableResult
  static func check(
    _ id: ItemID, in transaction: inout ReadTransaction, isUnlocking: Bool = false
  ) throws(VaultError) -> (Item, ItemState) {
    let item = try transaction.item(id)
    try item.refuseUnlessPIN()
    _ = try item.pinPolicy()
    let state = try transaction.state(of: id)
    guard !state.isBlocked || isUnlocking else {
      throw VaultError.pinBlocked.advising(try transaction.adviceOnBlockedPIN(id))
    }
    return (item, state)
  }

  var id: ItemID { item.id }
  var mode: PINMode { record.mode }
  var limit: UInt32 { item.pinLimit }

  /// Asks for this PIN.
  ///
  /// - Parameter label: The name of the item that it guards; `nil` for the name of the PIN item.
  func request(_ action: String, of label: String? = nil, isTypedTwice: Bool = false) -> PINRequest {
    var request = PINRequest(action, of: item, isTypedTwice: isTypedTwice)
    request.policy = policy
    request.label = label
    if mode == .checked { request.attemptsLeft = PINAttempts.left(state, limit: limit) }
    return request
  }

  /// Asks for the PIN that replaces this one.
  var requestForNew: PINRequest {
    var request = PINRequest(newFor: "change the PIN", of: item)
    request.policy = policy
    return request
  }

  /// - Throws: ``VaultError/Code/damaged`` if an item behind it names another mode.
  func refuse(unless mode: PINMode) throws(VaultError) {
    guard self.mode != mode else { return }
    throw VaultError(
      .damaged, "an item and the PIN that guards it name different modes", hint: .verifyAndRestore)
  }

  func refuse(unlessCheckedFor what: String) throws(VaultError) {
    guard mode != .checked else { return }
    throw VaultError(
      .policy, "only the server can tell whether a camouflaged PIN is right, so \(what)",
      hint: "make a code and let the server judge it")
  }
}

extension Item {
  /// - Throws: ``VaultError/Code/itemNotFound``.
  func refuseUnlessPIN() throws(VaultError) {
    guard kind != .pin else { return }
    throw VaultError(.itemNotFound, "there is no PIN with that name", hint: .listItems)
  }
}

extension ItemState {
  /// The offset that codes use: that of the last change, confirmed or not.
  var offsetInUse: [UInt8] { pendingPINOffset ?? pinOffset }
}

extension ReadTransaction {
  /// What ends the block of a PIN: the server of a credential behind it, or its unlock key. In a locked vault the key cannot be told
  /// from none.
  mutating func adviceOnBlockedPIN(_ id: ItemID) throws(VaultError) -> Hint {
    let credentials = try items(matching: Query(.otp), damaged: { _, _ in })
    if credentials.contains(where: { $0.policy.guardingPINItem == id && $0.hasServer }) {
      return .unlockCredential
    }
    let stored = try? StoredPIN(id, in: &self, isUnlocking: true)
    guard stored?.record.hasUnlockKey ?? true else {
      return
        "the PIN has no unlock key and no server, so nothing ends that: make another PIN, and enroll again what is behind it"
    }
    return .unlockPIN
  }
}

extension VaultError {
  /// Without advice, where what ends the block was not looked for.
  static var pinBlocked: VaultError {
    VaultError(.blocked, "the PIN is blocked after too many wrong ones", attemptsLeft: 0)
  }

  static var pinChanged: VaultError {
    VaultError(.busy, "the PIN was changed meanwhile", hint: "try again")
  }
}
