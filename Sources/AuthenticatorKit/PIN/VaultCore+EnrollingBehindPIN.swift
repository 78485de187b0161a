import SecretMemory
package import VaultKit

/// Enrolls a credential behind a PIN.
extension VaultCore {
  /// Adds a credential behind a PIN item: behind a checked PIN once it is found to be right, behind a camouflaged one under
  /// whatever is typed twice.
  func add(
    _ new: NewItem, secret: consuming SecretBytes, behind pin: ItemID, role: OTPRole,
    context: AuthenticationContext?,
    preparing prepare: (inout NewItem, inout WriteTransaction) throws(VaultError) -> Void
  ) throws(VaultError) -> Item {
    let context = context?.witnessingPasscode()
    let stored = try usablePIN(pin, context: context)
    if stored.mode != .checked { try new.attributes.refuseMasking(secret) }
    let shown = try enrollingPIN(stored, for: new, role: role, context: context)
    return try add(
      shown.guarding(new), secret: shown.data(secret), by: shown.component, noting: shown.notes,
      context: context
    ) { item, transaction throws(VaultError) in
      try shown.prepare(in: &transaction)
      try prepare(&item, &transaction)
    }
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
    try stored.item.access.refuseAbove(new.access)
    let id = if let chosen = new.id { chosen } else { ItemID(try environment.random.newBytes(16))! }
    let name = new.attributes[.name]
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
      return EnrollingPIN(shown, id: id)
    }
    var shown = try checkedPIN(stored, to: "store a credential", of: name, context: context)
    var transaction = try beginWriting()
    _ = try transaction.writeUse(of: shown)
    try transaction.commit()
    shown.isWritten = true
    return EnrollingPIN(shown, id: id)
  }

  /// Gets the PIN of a PIN item that the commit of the credential makes. Nothing is on the disk when this returns.
  func enrollingPIN(
    making new: NewPINItem, for credential: NewItem, context: AuthenticationContext?
  ) throws(VaultError) -> EnrollingPIN {
    try new.access.refuseAbove(credential.access)
    var transaction = try beginReading()
    try transaction.refuseTaken(new.name, unless: [])
    transaction.end()
    let id = if let chosen = credential.id { chosen } else { ItemID(try environment.random.newBytes(16))! }
    let made = try madePIN(new, context: context)
    if let secret = made.secret { return EnrollingPIN(making: made, .checked(secret), id: id) }
    var request = PINRequest("store a credential", of: nil, isTypedTwice: true)
    request.policy = new.policy ?? .standard
    request.label = credential.attributes[.name]
    return try askingPIN(request, context: context) { (pin, shown) throws(VaultError) in
      try CommonPINs.refuse(pin, of: .camouflaged)
      try refusePasscode(pin, context: context)
      let offset = made.item.state.pinOffset
      let key = try CamouflagedPIN.key(
        of: pin.bytes, offset: offset, by: made.record.derivation, environment: environment)
      var enrolling = EnrollingPIN(making: made, .camouflaged(key, offset: offset), id: id)
      enrolling.notes = shown.notes(.pin)
      return enrolling
    }
  }
}

/// The PIN item that is to guard a credential.
package enum ChosenPIN: Sendable {
  case stored(ItemID)
  /// One that is made in the commit of the credential: neither is there without the other.
  case new(NewPINItem)
}

/// A PIN that was shown for a credential that is about to be stored behind it.
struct EnrollingPIN {
  let pin: GuardingPIN
  let secret: ShownPIN.Secret
  /// The identifier of the credential. A mask is bound to it.
  let id: ItemID
  /// What the commit of the credential logs.
  var notes: [AuditNote]
  private let vault: VaultID
  private var source: Source

  private enum Source {
    /// The version of the data of the PIN item.
    case stored(material: UInt64)
    case made(MadePIN)
  }

  init(_ shown: ShownPIN, id: ItemID) {
    pin = GuardingPIN(shown.stored.mode, item: shown.stored.id)
    (secret, self.id, vault) = (shown.secret, id, shown.stored.vault)
    notes = shown.isWritten ? [] : shown.shown.notes(.pin)
    source = .stored(material: shown.stored.material)
  }

  init(making made: MadePIN, _ secret: ShownPIN.Secret, id: ItemID) {
    pin = GuardingPIN(made.record.mode, item: made.id)
    (self.secret, self.id, vault, notes) = (secret, id, made.vault, made.notes)
    source = .made(made)
  }

  var isMasking: Bool { pin.mode != .checked }

  var component: Component {
    switch secret {
    case .checked(let secret): Component(.otp, pin: .checked(secret))
    case .camouflaged: Component(.otp, pin: .camouflaged)
    }
  }

  /// Makes the PIN item if it is a new one, and otherwise looks whether it is as it was.
  ///
  /// - Throws: ``VaultError/Code/busy`` if the data of a checked PIN was replaced, or a camouflaged one was changed: the secret
  ///   would be behind an old one.
  func prepare(in transaction: inout WriteTransaction) throws(VaultError) {
    switch source {
    case .made(let made):
      _ = try transaction.add(made.item, secret: made.record.data.bytes.copy(), by: .pin)
    case .stored(let material):
      guard try transaction.reading.materialVersion(of: pin.item) == material else { throw .pinChanged }
      guard case .camouflaged(_, let offset) = secret else { return }
      let state = try transaction.reading.state(of: pin.item)
      guard state.pinOffset == offset, !state.hasPendingOffset else { throw .pinChanged }
    }
  }

  /// Whether a commit must make the camouflaged PIN item before that of the credential. If the latter failed, the step that is
  /// tried again masks the secret behind the same item, and so alike.
  var mustBeMadeFirst: Bool {
    guard isMasking, case .made = source else { return false }
    return true
  }

  mutating func makeFirst(in transaction: inout WriteTransaction) throws(VaultError) {
    try prepare(in: &transaction)
    source = .stored(material: try transaction.reading.materialVersion(of: pin.item))
  }

  /// The credential behind the PIN.
  func guarding(_ new: NewItem) -> NewItem {
    var new = new
    new.id = id
    new.attributes[.pinItem] = pin.item.bytes
    new.guardingPIN = pin
    return new
  }

  /// The data of the credential. Masks the secret of one behind a camouflaged PIN, which happens once in its life.
  func data(_ secret: borrowing SecretBytes) -> SecretBytes {
    guard case .camouflaged(let key, _) = self.secret else { return secret.copy() }
    return CamouflagedPIN.masked(secret, by: key, of: id, vault: vault)
  }
}

extension AccessControl {
  /// That of a PIN, for a credential behind it.
  ///
  /// - Throws: ``VaultError/Code/policy``.
  func refuseAbove(_ access: AccessControl) throws(VaultError) {
    guard access.classNumber == classNumber else {
      throw VaultError(
        .policy,
        "a PIN and what is behind it have one accessibility, and both or none are on this device only",
        hint: "give the credential the accessibility of the PIN, or make a PIN of that accessibility")
    }
  }
}

extension StoredPIN {
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
}
