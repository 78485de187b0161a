import VaultCrypto

/// The policy record of an item: access control, audit, and what else guards its key. The record is kept whole,
/// including fields unknown to this version.
package struct Policy: Sendable {
  private typealias Number = FieldNumber.PolicyRecord

  package let access: AccessControl
  package let audit: AuditPolicy
  package let record: Record
  /// The PIN item that guards the key, also by a rule that this version does not know.
  package let guardingPINItem: ItemID?
  /// Whether the secret of a key may be read. Has no meaning for other kinds.
  package let isExportable: Bool
  private let reading: Result<Requirements, VaultError>
  private let bound: Result<[BoundConstraint], VaultError>

  /// What the policy requires of whoever opens the secret, besides the access control (section 6).
  package struct Requirements: Sendable, Equatable {
    package var life: TokenLife?
    package var pin: GuardingPIN?
    package var expiry = ExpiryRule.warn

    package init(life: TokenLife? = nil, pin: GuardingPIN? = nil, expiry: ExpiryRule = .warn) {
      (self.life, self.pin, self.expiry) = (life, pin, expiry)
    }

    /// Whether items of this kind can have such requirements.
    package func areAllowed(for kind: ItemKind) -> Bool {
      let rules = kind.rules
      return (life == nil || rules.policy.end != nil) && (pin == nil || rules.policy.canHavePIN)
        && (expiry == .warn || rules.expiry.isGivenAfter)
    }
  }

  /// - Parameters:
  ///   - factors: The factor for each single constraint of a new item.
  ///   - isExportable: Whether the secret of a new key may be read; `false` for other kinds.
  ///   - requirements: What else a new item requires.
  package init(
    access: AccessControl, audit: AuditPolicy, factors: [BoundConstraint] = [],
    isExportable: Bool = false, requirements: Requirements = Requirements()
  ) {
    self.access = access
    self.audit = audit
    var record = Record()
    record.set(Number.accessibility, u8: access.accessibility.rawValue)
    record.set(Number.thisDeviceOnly, u8: access.thisDeviceOnly ? 1 : 0)
    record.set(Number.constraintWord, u32: access.word)
    if !factors.isEmpty { record[Number.constraints] = Record.list(factors.map(\.encoded)).encoded }
    record.set(Number.audit, u8: audit.rawValue)
    record.set(Number.exportable, u8: isExportable ? 1 : 0)
    if let life = requirements.life { record[Number.tokenLife] = life.encoded }
    if let pin = requirements.pin { record[Number.guardingPIN] = pin.encoded }
    record[Number.expiryRule] = Self.field(for: requirements.expiry)
    self.record = record
    self.isExportable = isExportable
    guardingPINItem = requirements.pin?.item
    reading = .success(requirements)
    bound = Result { () throws(VaultError) in try Self.checked(factors, as: access.constraints) }
  }

  /// The same policy with another audit policy, and another rule for what has expired.
  package func with(audit: AuditPolicy? = nil, expiry: ExpiryRule? = nil) -> Policy {
    Policy(self, audit: audit ?? self.audit, expiry: expiry)
  }

  private init(_ policy: Policy, audit: AuditPolicy, expiry: ExpiryRule?) {
    access = policy.access
    self.audit = audit
    (guardingPINItem, isExportable, bound) = (policy.guardingPINItem, policy.isExportable, policy.bound)
    var record = policy.record
    record.set(Number.audit, u8: audit.rawValue)
    var reading = policy.reading
    // What a policy says that this version does not understand is never changed.
    if let expiry, case .success(var required) = reading {
      required.expiry = expiry
      reading = .success(required)
      record[Number.expiryRule] = Self.field(for: expiry)
    }
    (self.record, self.reading) = (record, reading)
  }

  private static func field(for expiry: ExpiryRule) -> [UInt8]? { expiry == .warn ? nil : [expiry.rawValue] }

  /// Refuses unknown bits of the constraint word and an unknown accessibility, so that a rule that this version does
  /// not understand is never weakened.
  package init(record: Record) throws(VaultError) {
    let fields = FieldReader(record, or: VaultError(.damaged, "an item's policy is not readable"))
    let (number, only) = try (fields.u8(Number.accessibility), fields.u8(Number.thisDeviceOnly))
    let (word, rule) = try (fields.u32(Number.constraintWord), fields.u8(Number.audit))
    let exportable = try fields.u8(Number.exportable)
    try fields.check(only <= 1 && exportable <= 1)
    guard let accessibility = Accessibility(rawValue: number), let audit = AuditPolicy(rawValue: rule),
      word & ~Self.knownBits == 0
    else { throw Self.unknownRule }
    access = AccessControl(accessibility: accessibility, thisDeviceOnly: only == 1, word: word)
    self.audit = audit
    self.record = record
    let constraints = access.constraints
    isExportable = exportable == 1
    guardingPINItem = GuardingPIN.item(in: record)
    reading = Result { () throws(VaultError) in try Self.requirements(of: record, with: constraints) }
    bound = Result { () throws(VaultError) in try Self.constraints(of: record, as: constraints) }
  }

  private static func requirements(
    of record: Record, with constraints: Constraints
  ) throws(VaultError) -> Requirements {
    let rule = record[Number.expiryRule]
    guard Constraints.supported.isSuperset(of: constraints),
      record.numbers.allSatisfy({
        Number.accessibility...Number.guardingPIN ~= $0 || $0 == Number.expiryRule
      }), rule == nil || rule == field(for: .refuse)
    else { throw unknownRule }
    guard (record[Number.constraints] != nil) == constraints.hasSingle else { throw unreadable }
    var required = Requirements(expiry: rule == nil ? .warn : .refuse)
    if let life = record[Number.tokenLife] { required.life = try TokenLife(decoding: life) }
    if let pin = record[Number.guardingPIN] { required.pin = try GuardingPIN(decoding: pin) }
    return required
  }

  private static func constraints(
    of record: Record, as constraints: Constraints
  ) throws(VaultError) -> [BoundConstraint] {
    guard let bytes = record[Number.constraints] else { return try checked([], as: constraints) }
    let list: [[UInt8]]
    do throws(RecordError) { list = try Record(decoding: bytes).list() } catch { throw unreadable }
    var bound: [BoundConstraint] = []
    for entry in list { bound.append(try BoundConstraint(decoding: entry)) }
    return try checked(bound, as: constraints)
  }

  /// The constraints in ascending order of their factors, if they are those of the constraint word.
  private static func checked(
    _ bound: [BoundConstraint], as constraints: Constraints
  ) throws(VaultError) -> [BoundConstraint] {
    let flags = bound.map(\.flag.rawValue).sorted()
    guard flags == constraints.single.map(\.rawValue).sorted() else { throw unreadable }
    return bound.sorted { $0.factor.rawValue < $1.factor.rawValue }
  }

  // MARK: What it requires

  /// What the policy requires. An item with a policy that this version does not understand is listed, and its secret is
  /// neither opened nor sealed.
  ///
  /// - Throws: ``VaultError/Code/unsupported`` for a field or a value that this version does not know,
  ///   ``VaultError/Code/damaged``.
  package func requirements() throws(VaultError) -> Requirements { try reading.get() }

  /// The same; `nil` where this version does not understand the policy.
  package var understood: Requirements? {
    guard case .success(let required) = reading else { return nil }
    return required
  }

  /// Whether it says how long the item is valid, also in a way that this version does not know.
  package var hasLife: Bool { record[Number.tokenLife] != nil }

  /// Whether it has no rule that items of this kind cannot have.
  package func fits(_ kind: ItemKind) -> Bool {
    let rules = kind.rules
    return (!hasLife || rules.policy.end != nil)
      && (record[Number.guardingPIN] == nil || rules.policy.canHavePIN)
      && (record[Number.expiryRule] == nil || rules.expiry.isGivenAfter)
  }

  /// What becomes of the item when it has expired. A rule that this version does not understand refuses.
  package var expiry: ExpiryRule { understood?.expiry ?? .refuse }

  /// The further secrets that each way to the data key needs.
  ///
  /// - Throws: As ``requirements()``.
  package func furtherSecrets() throws(VaultError) -> FurtherSecrets.Names {
    let required = try requirements()
    var names: FurtherSecrets.Names = []
    if access.constraints.contains(.applicationPassword) { names.insert(.password) }
    if required.pin?.mode == .checked { names.insert(.pin) }
    if required.life?.session != nil { names.insert(.session) }
    return names
  }

  /// Whether the class key alone does not open the data key: it is wrapped to factors or further secrets (form 1).
  ///
  /// - Throws: As ``requirements()``.
  package func isWrapped() throws(VaultError) -> Bool {
    try !furtherSecrets().isEmpty || access.constraints.hasSingle
  }

  /// Whether no person is asked for the key: beside the class key it needs a session of the caller at most.
  ///
  /// - Throws: As ``requirements()``.
  package func asksNobody() throws(VaultError) -> Bool {
    try furtherSecrets().isSubset(of: .session) && !access.constraints.hasSingle
  }

  /// The SHA-256 of the record as stored, bound in `keys` and `secret`.
  package var hash: [UInt8] { SHA256.hash(record.encoded) }

  // MARK: Constraints

  /// The constraints with their factors.
  ///
  /// - Throws: ``VaultError/Code/damaged`` if they do not match the constraint word: a rule without its factor opens
  ///   nothing.
  package func boundConstraints() throws(VaultError) -> [BoundConstraint] { try bound.get() }

  /// The ways to the data key. Each way is a list of factors, and needs all of them. With `or`, each constraint has its
  /// own way; otherwise there is one way.
  package func ways() throws(VaultError) -> [[Factor]] {
    let factors = try boundConstraints().map(\.factor)
    return access.constraints.contains(.or) ? factors.map { [$0] } : [factors]
  }

  static var unreadable: VaultError {
    VaultError(.damaged, "an item's access rule is not readable", hint: "restore the vault from a backup")
  }

  static var unknownRule: VaultError {
    VaultError(
      .unsupported, "the item has an access rule that this version does not know", hint: .useNewerVersion)
  }

  private static let knownBits: UInt32 = 1 | 2 | 8 | 0x10 | 0x4000 | 0x8000 | 0x4000_0000 | 0x8000_0000
}
