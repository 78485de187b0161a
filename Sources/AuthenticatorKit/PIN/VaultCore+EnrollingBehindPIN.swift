import SecretMemory
import VaultKit

/// Enrolls a credential behind a PIN.
extension VaultCore {
  /// Adds a credential behind a PIN item: behind a checked PIN once it is found to be right, behind a camouflaged one under
  /// whatever is typed twice.
  func add(
    _ new: NewItem, secret: consuming SecretBytes, behind pin: ItemID, role: OTPRole,
    context: AuthenticationContext?
  ) throws(VaultError) -> Item {
    var new = new
    new.attributes[.pinItem] = pin.bytes
    let context = context?.witnessingPasscode()
    let stored = try usablePIN(pin, context: context)
    try stored.refuseOtherAccess(new.access)
    new.guardingPIN = GuardingPIN(stored.mode, item: pin)
    guard stored.mode == .checked else {
      try stored.refuseMasking(secret, role: role)
      return try addMasked(new, secret: secret, stored, context: context)
    }
    let shown = try checkedPIN(stored, to: "store a credential", of: new.attributes[.name], context: context)
    // What follows may ask the person for more, and an attempt without a verdict counts as a wrong one.
    try writing { transaction throws(VaultError) in _ = try transaction.settle(shown) }
    return try add(new, secret: secret, by: Component(.otp, pin: shown.obtained), context: context)
  }

  /// Masks the secret, which happens once in its life. The mask is bound to the identifier of the item.
  private func addMasked(
    _ new: NewItem, secret: consuming SecretBytes, _ stored: StoredPIN, context: AuthenticationContext?
  ) throws(VaultError) -> Item {
    var new = new
    let id = ItemID(try environment.random.newBytes(16))!
    new.id = id
    let component = Component(.otp, pin: .camouflaged)
    try permitAdding(new, by: component, context: context)
    let shown = try camouflagedPIN(
      stored, to: "store a credential", of: new.attributes[.name], isTypedTwice: true, context: context
    ) { (pin) throws(VaultError) in
      try CommonPINs.refuse(pin, of: .camouflaged)
      try refusePasscode(pin, context: context)
    }
    guard case .camouflaged(let key, _) = shown.secret else {
      preconditionFailure("addMasked: a checked PIN")
    }
    let masked = CamouflagedPIN.masked(secret, by: key, of: id, vault: stored.vault)
    return try add(
      new, secret: masked, by: component, noting: shown.shown.notes(.pin),
      context: context)
  }
}

extension StoredPIN {
  /// - Throws: ``VaultError/Code/policy``.
  fileprivate func refuseOtherAccess(_ access: AccessControl) throws(VaultError) {
    guard access.classNumber == item.access.classNumber else {
      throw VaultError(
        .policy,
        "a PIN and what is behind it have one accessibility, and both or none are on this device only",
        hint: "give the credential the accessibility of the PIN, or make a PIN of that accessibility")
    }
  }

  /// What would tell a right PIN from a wrong one, or break the mask later.
  ///
  /// - Throws: ``VaultError/Code/policy``.
  fileprivate func refuseMasking(_ secret: borrowing SecretBytes, role: OTPRole) throws(VaultError) {
    guard role == .prover else {
      throw VaultError(
        .policy, "a verifier cannot be behind a camouflaged PIN: it would tell which PIN is right")
    }
    guard !TextKey.matches(secret) else {
      throw VaultError(
        .policy, "a key that is text cannot be behind a camouflaged PIN: it would tell which PIN is right",
        hint: "have the server make a random key, or use a checked PIN")
    }
    guard !state.hasPendingOffset else {
      throw VaultError(
        .policy,
        "a change of the PIN is pending, and the key must be masked under a PIN that the server has confirmed",
        hint: "confirm or undo the change first")
    }
  }
}
