import SecretMemory
package import VaultKit

/// Biokeys on the synchronous core. ``Biokeys`` offers the same on the actor.
extension VaultCore {
  /// Registers a biokey with the PIN. The commit of the right PIN also deletes the earlier biokey.
  package func registerBiokey(
    _ new: NewBiokey, for pin: ItemID, context: AuthenticationContext? = nil
  ) throws(VaultError) -> RegisteredBiokey {
    let stored = try usablePIN(pin, context: context)
    try stored.refuseBiokeys()
    let item = try new.item(for: stored.item)
    try permitAdding(item, by: .biokey, context: context)
    let (added, replaced) = try usingCheckedPIN(stored, to: "register a biokey", context: context) {
      (secret, transaction) throws(VaultError) in
      let replaced = try transaction.deleteBiokeys(of: pin)
      let record = try BiokeyRecord.make(for: pin, secret: secret.bytes, random: environment.random)
      let added = try transaction.add(item, secret: record.data.copy(), by: .biokey)
      return (added.id, replaced)
    }
    guard let biokey = try biokeys(of: pin).first(where: { $0.id == added }) else {
      throw VaultError(.busy, "another process has replaced the biokey meanwhile", hint: "list the biokeys")
    }
    return RegisteredBiokey(biokey: biokey, hasReplaced: replaced > 0)
  }

  /// Deletes the biokeys of a PIN, in the commit of the right PIN.
  package func resetBiokeys(
    of pin: ItemID, context: AuthenticationContext? = nil
  ) throws(VaultError) -> Int {
    let stored = try usablePIN(pin, context: context)
    try stored.refuseBiokeys()
    return try usingCheckedPIN(stored, to: "reset the biokeys", context: context) {
      (_, transaction) throws(VaultError) in try transaction.deleteBiokeys(of: pin)
    }
  }

  /// - Parameter pin: `nil` for those of all PINs.
  package func biokeys(of pin: ItemID? = nil) throws(VaultError) -> [Biokey] {
    var transaction = try beginReading()
    let items = try transaction.items(matching: Query(.biokey)).filter { pin == nil || $0.pinOfBiokey == pin }
    var names: [ItemID: String] = [:]
    for case let pin? in items.map(\.pinOfBiokey) {
      names[pin] = try transaction.items(matching: Query(id: pin)).first?.name
    }
    transaction.end()
    var biokeys: [Biokey] = []
    for item in items {
      guard let pin = item.pinOfBiokey else { continue }
      biokeys.append(
        Biokey(
          id: item.id, name: item.name, pin: pin, pinName: names[pin], device: item.attributes[.label],
          registered: item.created,
          members: item.access.constraints.contains(.biometryAny) ? .any : .currentSet,
          attemptsLeft: names[pin] == nil ? 0 : try biometryAttemptsLeft(of: item),
          isInvalidated: try isBeyondReach(item)))
    }
    return biokeys
  }

  /// Asks for a checked PIN, and lends `D` to a change that is part of the commit of its verdict.
  private func usingCheckedPIN<R>(
    _ stored: StoredPIN, to action: String, context: AuthenticationContext?,
    _ change: (SharedSecret, inout WriteTransaction) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    let shown = try checkedPIN(stored, to: action, context: context)
    guard case .checked(let secret) = shown.secret else {
      preconditionFailure("usingCheckedPIN: camouflaged")
    }
    return try committingVerdict(on: { .pin(shown) }) { () throws(VaultError) in
      var transaction = try beginWriting(.secret(.use, of: stored.id, by: .pin), context: context)
      try transaction.writeUse(of: shown)
      let result = try change(secret, &transaction)
      try transaction.commit()
      return result
    }
  }
}

extension WriteTransaction {
  /// Deletes the biokeys of a PIN item.
  ///
  /// - Returns: How many there were.
  @discardableResult
  mutating func deleteBiokeys(of pin: ItemID) throws(VaultError) -> Int {
    let items = try items(matching: Query(.biokey)).filter { $0.pinOfBiokey == pin }
    for item in items { try destroy(item.id) }
    return items.count
  }
}

extension StoredPIN {
  fileprivate func refuseBiokeys() throws(VaultError) {
    guard mode != .checked else { return }
    throw VaultError(
      .policy,
      "a camouflaged PIN has no biokey: nothing here knows the right PIN, and a biokey would give it away",
      hint: "make a checked PIN, and enroll the credential behind that")
  }
}
