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
    let context = context?.witnessingPasscode()
    let stored = try usablePIN(pin, context: context)
    if stored.mode != .checked { try stored.refuseMasking(secret) }
    let shown = try enrollingPIN(stored, for: new, role: role, context: context)
    return try add(
      shown.guarding(new), secret: shown.data(secret), by: shown.component, noting: shown.notes,
      context: context)
  }

  /// Gets the PIN for a credential that is about to be stored. The verdict of a checked PIN is on the disk when this
  /// returns: what follows may take long, and an attempt without a verdict counts as a wrong one.
  ///
  /// - Parameters:
  ///   - stored: The PIN item, which may be used now.
  ///   - new: The credential.
  func enrollingPIN(
    _ stored: StoredPIN, for new: NewItem, role: OTPRole = .prover, context: AuthenticationContext?
  ) throws(VaultError) -> EnrollingPIN {
    try stored.refuseOtherAccess(new.access)
    let (id, name) = (ItemID(try environment.random.newBytes(16))!, new.attributes[.name])
    guard stored.mode == .checked else {
      try stored.refuseMasking(role: role)
      var guarded = new
      guarded.guardingPIN = GuardingPIN(stored.mode, item: stored.id)
      try permitAdding(guarded, by: Component(.otp, pin: .camouflaged), context: context)
      let shown = try camouflagedPIN(
        stored, to: "store a credential", of: name, isTypedTwice: true, context: context
      ) { (pin) throws(VaultError) in
        try CommonPINs.refuse(pin, of: .camouflaged)
        try refusePasscode(pin, context: context)
      }
      return EnrollingPIN(shown: shown, id: id)
    }
    var shown = try checkedPIN(stored, to: "store a credential", of: name, context: context)
    try writing { transaction throws(VaultError) in _ = try transaction.settle(shown) }
    shown.isSettled = true
    return EnrollingPIN(shown: shown, id: id)
  }
}

/// A PIN that was shown for a credential that is about to be stored behind it.
struct EnrollingPIN {
  let shown: ShownPIN
  /// The identifier of the credential. A mask is bound to it.
  let id: ItemID

  var isMasking: Bool { shown.stored.mode != .checked }
  var component: Component { Component(.otp, pin: shown.obtained) }

  /// What the commit of the credential logs.
  var notes: [AuditNote] { shown.isSettled ? [] : shown.shown.notes(.pin) }

  /// The credential behind the PIN.
  func guarding(_ new: NewItem) -> NewItem {
    var new = new
    new.id = id
    new.attributes[.pinItem] = shown.stored.id.bytes
    new.guardingPIN = GuardingPIN(shown.stored.mode, item: shown.stored.id)
    return new
  }

  /// The data of the credential. Masks the secret of one behind a camouflaged PIN, which happens once in its life.
  func data(_ secret: borrowing SecretBytes) -> SecretBytes {
    guard case .camouflaged(let key, _) = shown.secret else { return secret.copy() }
    return CamouflagedPIN.masked(secret, by: key, of: id, vault: shown.stored.vault)
  }
}

extension StoredPIN {
  /// - Throws: ``VaultError/Code/policy``.
  func refuseOtherAccess(_ access: AccessControl) throws(VaultError) {
    guard access.classNumber == item.access.classNumber else {
      throw VaultError(
        .policy,
        "a PIN and what is behind it have one accessibility, and both or none are on this device only",
        hint: "give the credential the accessibility of the PIN, or make a PIN of that accessibility")
    }
  }

  /// What would break a mask later.
  ///
  /// - Throws: ``VaultError/Code/policy``.
  fileprivate func refuseMasking(role: OTPRole) throws(VaultError) {
    guard role == .prover else {
      throw VaultError(
        .policy, "a verifier cannot be behind a camouflaged PIN: it would tell which PIN is right")
    }
    guard !state.hasPendingOffset else {
      throw VaultError(
        .policy,
        "a change of the PIN is pending, and the key must be masked under a PIN that the server has confirmed",
        hint: "confirm or undo the change first")
    }
  }

  /// What would tell a right PIN from a wrong one.
  ///
  /// - Throws: ``VaultError/Code/policy``.
  func refuseMasking(_ secret: borrowing SecretBytes) throws(VaultError) {
    guard TextKey.matches(secret) else { return }
    throw VaultError(
      .policy, "a key that is text cannot be behind a camouflaged PIN: it would tell which PIN is right",
      hint: "have the server make a random key, or use a checked PIN")
  }
}
