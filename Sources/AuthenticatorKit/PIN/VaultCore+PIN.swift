import SecretMemory
package import VaultKit

/// PINs on the synchronous core. ``PINItem`` offers the same on the actor.
extension VaultCore {
  /// Makes a PIN item.
  package func makePIN(
    _ new: NewPINItem, context: AuthenticationContext? = nil
  ) throws(VaultError) -> Item {
    let context = context?.witnessingPasscode()
    let made = try madePIN(new, context: context)
    return try add(
      made.item, secret: made.record.data.bytes.copy(), by: .pin, noting: made.notes, context: context)
  }

  /// A PIN item that is not stored yet: a checked one under the PIN that a person types twice. A camouflaged one has no PIN
  /// before a credential is behind it.
  func madePIN(_ new: NewPINItem, context: AuthenticationContext?) throws(VaultError) -> MadePIN {
    try new.check()
    var item = new.item
    // An item that cannot be added is refused before a PIN is asked for.
    try permitAdding(item, by: .pin, context: context)
    try refuseTaken(new.name)
    let (id, vault) = (ItemID(try environment.random.newBytes(16))!, try vaultID)
    item.id = id
    guard new.mode == .checked else {
      item.state.pinOffset = try CamouflagedPIN.freshOffset(environment.random)
      let record = PINRecord.camouflaged(
        try .fresh(environment.parameters, random: environment.random))
      return MadePIN(item: item, id: id, vault: vault, record: record, secret: nil, notes: [])
    }
    var request = PINRequest(newFor: "make a PIN", label: new.name)
    request.policy = new.policy ?? .standard
    return try askingPIN(request, context: context) { [item] (pin, shown) throws(VaultError) in
      try CommonPINs.refuse(pin, of: .checked)
      try refusePasscode(pin, context: context)
      let secret = try environment.random.newSecret(32)
      let record = try PINRecord.wrapping(
        secret, under: NewPINKey(pin, in: environment), of: id, vault: vault, unlockKey: new.unlockKey,
        environment: environment)
      return MadePIN(
        item: item, id: id, vault: vault, record: record, secret: SharedSecret(secret),
        notes: shown.notes(.newPIN))
    }
  }

  /// Judges a checked PIN.
  package func verifyPIN(
    _ id: ItemID, context: AuthenticationContext? = nil
  ) throws(VaultError) -> VerifiedPIN {
    let stored = try usablePIN(id, context: context)
    try stored.refuse(unlessCheckedFor: "it cannot be verified")
    let pin = try checkedPIN(stored, to: "verify the PIN", context: context)
    try commitVerdict(on: pin, context: context)
    return VerifiedPIN(item: id, wasMarked: pin.wasMarked)
  }

  /// Writes the verdict on a PIN that permits nothing else in the same commit.
  func commitVerdict(on pin: ShownPIN, context: AuthenticationContext?) throws(VaultError) {
    try committingVerdict(on: { .pin(pin) }) { () throws(VaultError) in
      var transaction = try beginWriting(.free, context: context)
      try transaction.writeUse(of: pin)
      try transaction.commit()
    }
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
    var transaction = try beginReading()
    var pins: [Item] = []
    var credentials: [ItemID: [Item]] = [:]
    var biokeys: Set<ItemID> = []
    var walk = ItemWalk()
    while let item = try transaction.nextReadable(&walk) {
      if item.kind == .pin, id == nil || item.id == id { pins.append(item) }
      if let pin = item.policy.guardingPINItem { credentials[pin, default: []].append(item) }
      if let pin = item.pinOfBiokey { biokeys.insert(pin) }
    }
    var statuses: [PINStatus] = []
    for pin in pins {
      statuses.append(
        PINStatus(
          pin, try transaction.state(of: pin.id), credentials: credentials[pin.id] ?? [],
          hasBiokey: biokeys.contains(pin.id)))
    }
    return statuses
  }

  private var vaultID: VaultID {
    get throws(VaultError) { try beginReading().vault }
  }
}

/// A PIN item that is not stored yet.
struct MadePIN: Sendable {
  let item: NewItem
  let id: ItemID
  let vault: VaultID
  let record: PINRecord
  /// `D` of a checked PIN; `nil` for a camouflaged one.
  let secret: SharedSecret?
  let notes: [AuditNote]
}
