import SealedStorage
import VaultFormat
import VaultKeys
import SecretMemory
import VaultCrypto
import VaultLogging
import VaultStorage

/// The outcome of a verification: the right to one operation on one item in one session. It lasts 30 s of this boot,
/// and its use consumes it. Only ``Gate`` makes one.
package struct Grant: ~Copyable, Sendable {
  /// What it was given for.
  package let proof: VerificationProof
  fileprivate let verified: VerifiedItem
  /// The notes to log with the use; `nil` if all notes, also that of the use, were logged before.
  fileprivate var notes: [AuditNote]?

  /// How long it is valid, in milliseconds of the boot clock.
  static let life: UInt64 = 30_000

  init(
    _ operation: ItemOperation, verified: VerifiedItem, for caller: Caller?, session: UInt64, locks: UInt64,
    clock: any VaultClock, notes: [AuditNote]
  ) {
    proof = VerificationProof(
      item: verified.item, operation: operation,
      moment: VerificationMoment(for: caller, session: session, locks: locks, clock: clock),
      shown: verified.shown, material: verified.material, policyHash: verified.policyHash)
    self.verified = verified
    self.notes = notes
  }

  /// Takes the notes of this grant and of its use, for a caller that logs them before the use.
  mutating func takeNotes(for item: Item) -> [AuditNote] {
    defer { notes = nil }
    return notes.map { $0 + Gate.notes(proof.operation, item: item) } ?? []
  }
}

/// That a person was verified for one operation on one item in one session, without any key. A use that had to wait after the
/// verification has it checked again, by ``WriteTransaction/confirm(_:)``.
package struct VerificationProof: Sendable {
  let item: ItemID
  let operation: ItemOperation
  fileprivate let moment: VerificationMoment
  fileprivate let shown: ShownFactors
  fileprivate let material: UInt64
  fileprivate let policyHash: [UInt8]

  /// Whether it was made for this operation on this item.
  func isFor(_ operation: ItemOperation, on item: ItemID) -> Bool {
    operation == self.operation && item == self.item
  }
}

/// The keys of an item for the operation that the gate permitted. Their use consumes them. Only ``Gate`` makes one.
struct Opening: ~Copyable, Sendable {
  private let item: ItemID
  private let keys: ItemKeys

  fileprivate init(item: ItemID, keys: ItemKeys) {
    self.item = item
    self.keys = keys
  }

  /// Uses it for its item. An opening for another item is a programming error.
  consuming func spend(on item: ItemID) -> ItemKeys {
    precondition(item == self.item, "Opening.spend: an opening for another item")
    return keys
  }
}

/// The only place that decides about access. It returns the decision together with its audit notes, so a caller
/// cannot get one without the other.
enum Gate {
  /// A decision: the keys that open the item, and the notes that must be written before any part of the item is
  /// shown.
  struct Decision: ~Copyable {
    let opening: Opening
    let notes: [AuditNote]
  }

  /// Decides inside a transaction. Does not prompt: an item whose key is wrapped needs a grant.
  ///
  /// - Parameter component: The component that asks; `nil` for every other caller.
  /// - Throws: ``VaultError/Code/policy`` for a secret of another component; ``VaultError/Code/unsupported``;
  ///   ``VaultError/Code/verificationNeeded`` without a valid grant.
  static func decide(
    _ operation: ItemOperation, on item: Item, row: ItemRow, in store: borrowing SealedStore,
    by component: Component? = nil, with grant: consuming Grant? = nil
  ) throws(VaultError) -> Decision {
    do throws(VaultError) {
      let decision = try decision(operation, on: item, row: row, in: store, by: component, with: grant)
      VaultLog.debug(.vaultAccess, "the gate opens item \(item.id)")
      return decision
    } catch {
      VaultLog.debug(.vaultAccess, "the gate does not open item \(item.id): \(error.code)")
      throw error
    }
  }

  private static func decision(
    _ operation: ItemOperation, on item: Item, row: ItemRow, in store: borrowing SealedStore,
    by component: Component?, with grant: consuming Grant?
  ) throws(VaultError) -> Decision {
    let missing = try missing(
      operation, on: item, row: row, in: store, by: component, with: grant?.proof)
    if let missing { throw missing.error }
    guard let key = store.keys.classKey(item.access.classNumber, generation: row.generation) else {
      throw locked(item.access, keys: store.keys)
    }
    guard let grant else {
      let opening = Opening(item: item.id, keys: ItemKeys(classKey: key))
      return Decision(opening: opening, notes: notes(operation, item: item))
    }
    let keys = ItemKeys(
      classKey: key, dataKey: grant.verified.dataKey,
      further: component.furtherSecrets(password: grant.verified.password))
    return Decision(
      opening: Opening(item: item.id, keys: keys),
      notes: grant.notes.map { $0 + notes(operation, item: item) } ?? [])
  }

  /// What is missing for an operation on an item; `nil` if nothing is. The decision begins with it, so that nothing else is asked
  /// for than what the decision needs.
  ///
  /// - Parameters:
  ///   - component: The component that asks; `nil` for every other caller.
  ///   - proof: The verification that was made for the operation.
  /// - Throws: Why the operation is refused, whatever a person would show; ``VaultError/Code/busy`` and
  ///   ``VaultError/Code/verificationNeeded`` for a verification that is no longer valid.
  static func missing(
    _ operation: ItemOperation, on item: Item, row: ItemRow, in store: borrowing SealedStore,
    by component: Component?, with proof: VerificationProof? = nil
  ) throws(VaultError) -> Missing? {
    let ofComponent = try missingFromComponent(operation, on: item, by: component)
    // Nobody is asked for the PIN of an item that is refused with it too.
    try refuseExpired(item, operation: operation, now: store.time.now)
    if let ofComponent { return .person(ofComponent) }
    guard store.keys.classKey(item.access.classNumber, generation: row.generation) != nil else {
      if proof == nil, try !item.policy.asksNobody() { return .person(verificationNeeded) }
      return try missingKey(of: item.access, keys: store.keys)
    }
    if let proof {
      try check(proof, operation: operation, item: item, row: row, store: store)
    } else if try item.policy.isWrapped() {
      return .person(verificationNeeded)
    }
    return nil
  }

  /// What is missing to seal the secret of an item again. It is wrapped to factors, and only an unlocked vault has authenticated
  /// their halves.
  static func missing(
    toSealAgain item: Item, _ operation: ItemOperation, by component: Component?, keys: borrowing KeyRing
  ) throws(VaultError) -> Missing? {
    try permit(operation, on: item, by: component)
    guard !item.access.constraints.single.isEmpty, !keys.isUnlocked else { return nil }
    return try missingKey(of: item.access, keys: keys)
  }

  /// The passcode, as what is missing to open a class.
  ///
  /// - Throws: ``VaultError/Code/policy`` for a class that no passcode opens here.
  static func missingKey(of access: AccessControl, keys: borrowing KeyRing) throws(VaultError) -> Missing {
    let error = locked(access, keys: keys)
    guard error.code == .locked else { throw error }
    return .passcode(error)
  }

  // MARK: New items

  /// The keys that a new item is sealed under.
  struct Rule: Sendable {
    let classKey: SharedSecret
    let factors: [BoundConstraint]
  }

  /// Adding an item does not prompt. It needs an open class. With constraints it also needs an unlocked session,
  /// because only unlocking authenticates the public halves of the factors.
  ///
  /// - Throws: ``VaultError/Code/policy`` for a constraint that no factor of this vault satisfies, and for an item of a
  ///   component; ``VaultError/Code/locked``.
  static func rule(
    for new: NewItem, by component: Component?, keys: borrowing KeyRing
  ) throws(VaultError) -> Rule {
    if let missing = try missing(toAdd: new, by: component, keys: keys) { throw missing.error }
    guard let key = keys.classKey(new.access.classNumber, generation: keys.current.generation) else {
      throw locked(new.access, keys: keys)
    }
    return Rule(classKey: key, factors: try factors(for: new.access.constraints, keys))
  }

  /// What is missing to add an item; `nil` if nothing is.
  ///
  /// - Throws: ``VaultError/Code/policy``, as ``rule(for:by:keys:)``.
  static func missing(
    toAdd new: NewItem, by component: Component?, keys: borrowing KeyRing
  ) throws(VaultError) -> Missing? {
    try permit(adding: new, by: component)
    let access = new.access
    if keys.isShut, access.accessibility != .afterFirstUnlock { return .passcode(KeyRing.shutError) }
    if access.accessibility == .whenPasscodeSet, !keys.header.hasPasscode {
      throw VaultError(.policy, "items of when-passcode-set need a passcode", hint: .setPasscodeFirst)
    }
    let factors = try factors(for: access.constraints, keys)
    guard keys.classKey(access.classNumber, generation: keys.current.generation) != nil,
      factors.isEmpty || keys.isUnlocked
    else { return try missingKey(of: access, keys: keys) }
    return nil
  }

  /// The factor of each single constraint.
  ///
  /// - Throws: ``VaultError/Code/policy`` for a constraint that no factor of this vault satisfies.
  private static func factors(for constraints: Constraints, _ keys: borrowing KeyRing) throws(VaultError)
    -> [BoundConstraint]
  {
    if constraints.isEmpty { return [] }
    try constraints.check()
    guard constraints.single.isEmpty || keys.header.hasPasscode else {
      throw VaultError(.policy, "that access rule needs a passcode, and none is set", hint: .setPasscodeFirst)
    }
    var bound: [BoundConstraint] = []
    for flag in constraints.single {
      let factor = try factor(for: flag, keys)
      guard keys.header.isAlive(factor) else { throw nobodyEnrolled }
      bound.append(BoundConstraint(flag: flag, factor: factor))
    }
    return bound
  }

  /// The ways to satisfy constraints without an item. Each way needs all of its factors.
  ///
  /// - Throws: As ``factors(for:_:)``.
  static func ways(to constraints: Constraints, in keys: borrowing KeyRing) throws(VaultError) -> [[Factor]] {
    let factors = try factors(for: constraints, keys).map(\.factor).sorted { $0.rawValue < $1.rawValue }
    return constraints.contains(.or) ? factors.map { [$0] } : [factors]
  }

  private static func factor(for flag: Constraints, _ keys: borrowing KeyRing) throws(VaultError) -> Factor {
    if flag == .devicePasscode { return .passcode }
    if flag == .userPresence { return .presence }
    let set = try keys.current.enrolledSet(of: keys.header)
    guard !set.biometric.isEmpty else { throw nobodyEnrolled }
    return flag == .biometryAny ? .any : set.factor
  }

  // MARK: Checks

  static func refuseExpired(_ item: Item, operation: ItemOperation, now: Instant) throws(VaultError) {
    guard [.read, .use, .export, .exportOfAll].contains(operation), item.expiry == .refuse,
      hasExpired(item, at: now)
    else { return }
    throw VaultError(
      .expired, "the item has expired",
      hint: item.kind.rules.expiry.endsByClock
        ? "store a new one"
        : .removeExpiry(of: item.name))
  }

  /// Whether its expiry has passed; in the trash, the one that it has when it is put back. ``Item/expiry`` says whether that refuses
  /// its use.
  static func hasExpired(_ item: Item, at now: Instant) -> Bool {
    guard let expires = item.ownExpiry, !item.kind.rules.expiry.isForKeepingOnly else { return false }
    return now >= expires
  }

  static func check(
    _ proof: VerificationProof, operation: ItemOperation, item: Item, row: ItemRow,
    store: borrowing SealedStore
  ) throws(VaultError) {
    precondition(
      proof.item == item.id && proof.operation == operation, "Gate.decide: a grant for something else")
    let moment = proof.moment
    guard moment.caller == store.caller else {
      throw VaultError(
        .verificationNeeded, "the verification was made for another caller",
        hint: "prepare the secret for this caller")
    }
    guard moment.session == store.identity || moment.locks != store.locks else {
      throw VaultError(.busy, "the vault's keys were changed meanwhile", hint: "try again")
    }
    guard moment.session == store.identity, moment.isWithin(Grant.life, clock: store.environment.clock) else {
      throw VaultError(.verificationNeeded, "the verification has lapsed", hint: "try again")
    }
    guard proof.material == row.material, proof.policyHash == item.policy.hash,
      try proof.shown.areAccepted(by: store.keys.header)
    else { throw VaultError(.busy, "the item or its rule was changed meanwhile", hint: "try again") }
  }

  /// Decides about what a passcode guards besides secrets: that items are there, what they are called, what they are for, and
  /// where their counters are. Items of ``Accessibility/afterFirstUnlock`` serve programs while no person is there.
  ///
  /// - Parameter item: `nil` for one that does not open.
  /// - Throws: ``VaultError/Code/locked``.
  static func permitWithoutSecret(on item: Item?, keys: borrowing KeyRing) throws(VaultError) {
    if let missing = missing(withoutSecretOf: item, keys: keys) { throw missing.error }
  }

  /// What is missing for such a change; `nil` if nothing is.
  static func missing(withoutSecretOf item: Item?, keys: borrowing KeyRing) -> Missing? {
    guard !keys.isUnlocked, item?.access.accessibility != .afterFirstUnlock else { return nil }
    return .passcode(keys.isShut ? KeyRing.shutError : locked)
  }

  /// Why a class is not open.
  static func locked(_ access: AccessControl, keys: borrowing KeyRing) -> VaultError {
    if access.thisDeviceOnly, keys.current.deviceRoot == nil {
      return VaultError(.policy, "the item opens with its own device key only, not with the recovery code")
    }
    return keys.isShut ? KeyRing.shutError : locked
  }

  private static var locked: VaultError {
    VaultError(.locked, "the vault is locked", hint: "unlock it with the passcode")
  }

  private static var verificationNeeded: VaultError {
    VaultError(
      .verificationNeeded, "the item's access rule asks for a person, and nobody is asked here",
      hint: "use a call that takes an authentication context")
  }

  static var nobodyEnrolled: VaultError {
    VaultError(.policy, "no member is enrolled", hint: .enrollMember)
  }

  /// Reading an item without constraints logs nothing, unless the item's audit policy requires an entry.
  fileprivate static func notes(_ operation: ItemOperation, item: Item) -> [AuditNote] {
    guard operation == .read, item.audit == .all || item.access.word != 0 else { return [] }
    return [AuditNote(operation: .itemRead, item: item.id, kind: item.kind)]
  }
}
