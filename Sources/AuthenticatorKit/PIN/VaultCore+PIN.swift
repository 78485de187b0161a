import SecretMemory
package import VaultKit

/// PINs on the synchronous core. ``PINItem`` offers the same on the actor.
extension VaultCore {
  /// Makes a PIN item.
  package func makePIN(
    _ new: NewPINItem, context: AuthenticationContext? = nil
  ) throws(VaultError) -> Item {
    try new.check()
    let context = context?.witnessingPasscode()
    var item = new.item
    // An item that cannot be added is refused before a PIN is asked for.
    try permitAdding(item, by: .pin, context: context)
    guard new.mode == .checked else {
      item.state.pinOffset = try CamouflagedPIN.freshOffset(environment.random)
      let record = PINRecord.camouflaged(
        try .fresh(environment.parameters, random: environment.random))
      return try add(item, secret: record.data.bytes.copy(), by: .pin, context: context)
    }
    let id = ItemID(try environment.random.newBytes(16))!
    item.id = id
    var request = PINRequest(newFor: "make a PIN", label: new.name)
    request.policy = new.policy ?? .standard
    let (record, notes) = try askingPIN(request, context: context) { (pin, shown) throws(VaultError) in
      try CommonPINs.refuse(pin, of: .checked)
      try refusePasscode(pin, context: context)
      let secret = try environment.random.newSecret(32)
      let record = try PINRecord.wrapping(
        secret, in: pin.bytes, of: id, vault: vaultID, unlockKey: new.unlockKey, environment: environment)
      return (record, shown.notes(.newPIN))
    }
    return try add(item, secret: record.data.bytes.copy(), by: .pin, noting: notes, context: context)
  }

  /// Judges a checked PIN.
  package func verifyPIN(
    _ id: ItemID, context: AuthenticationContext? = nil
  ) throws(VaultError) -> VerifiedPIN {
    let stored = try usablePIN(id, context: context)
    try stored.refuse(unlessCheckedFor: "it cannot be verified")
    let pin = try checkedPIN(stored, to: "verify the PIN", context: context)
    try using(context) { () throws(VaultError) in
      _ = try writing { transaction throws(VaultError) in try transaction.settle(pin) }
    }
    return VerifiedPIN(item: id, wasMarked: pin.wasMarked)
  }

  /// Refuses a new PIN that is the passcode, as far as this call knows the passcode.
  func refusePasscode(_ pin: borrowing PIN, context: AuthenticationContext?) throws(VaultError) {
    guard context?.isPasscode(pin.bytes) != true else {
      throw VaultError(
        .pinRefused, "the PIN must not be the passcode of the vault", hint: "choose other digits")
    }
  }

  /// - Parameter id: One PIN item; `nil` for all.
  package func pinStatuses(of id: ItemID? = nil) throws(VaultError) -> [PINStatus] {
    try reading { transaction throws(VaultError) in
      var pins: [Item] = []
      var credentials: [ItemID: [Item]] = [:]
      var biokeys: Set<ItemID> = []
      try transaction.forEachItem(damaged: { _, _ in }) { item throws(VaultError) in
        if item.kind == .pin, id == nil || item.id == id { pins.append(item) }
        if let pin = item.policy.guardingPINItem { credentials[pin, default: []].append(item) }
        if let pin = item.pinOfBiokey { biokeys.insert(pin) }
        return true
      }
      return try pins.map { pin throws(VaultError) in
        PINStatus(
          pin, try transaction.state(of: pin.id), credentials: credentials[pin.id] ?? [],
          hasBiokey: biokeys.contains(pin.id))
      }
    }
  }

  private var vaultID: VaultID {
    get throws(VaultError) { try reading { transaction throws(VaultError) in transaction.vault } }
  }
}
