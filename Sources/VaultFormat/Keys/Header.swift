package import VaultStorage

/// The public parameters of a vault (section 5). Fields unknown to this version are kept.
///
/// This is the front page of VaultFormat, the module that turns the bytes of a vault file into Swift values and back.
/// It follows `docs/format/vault-file.md`: a section number in a comment is a section of that page. The module opens no
/// file and keeps no keys.
///
/// - ``Record`` is the encoding of most parts: numbered fields in ascending order (section 1).
/// - ``Header`` and ``SlotAddress`` say which keys a vault has, and what opens each key (section 5).
/// - ``Item``, ``Attributes`` and ``Policy`` are an item without its secret (section 6).
/// - ``Head`` is the row that every commit rewrites (section 8), and ``AuditEntry`` is an entry of the log (section 9).
/// - ``AssociatedData`` binds each sealed part to its place (section 4).
/// - ``VaultError`` is the error of this module and of the modules above it, up to the library's user.
///
/// Read `Records/Record.swift` first, then this file, `Keys/SlotAddress.swift`, `Seals/AssociatedData.swift`,
/// `Items/Item.swift`, `Access/Policy.swift` and `Head.swift`.
package struct Header: Sendable, Equatable {
  private typealias Number = FieldNumber.Header

  /// The bytes as they are stored. A field that changes is written here at once; one that is unknown stays.
  package private(set) var record: Record
  package let vault: VaultID
  package let created: Instant
  /// Each change of slots, factors, generation or protector adds 1.
  package var config: UInt64 { didSet { record.set(Number.config, u64: config) } }
  package var generation: UInt32 { didSet { record.set(Number.generation, u32: generation) } }
  package var previousGeneration: UInt32? {
    didSet { record.set(Number.previousGeneration, u32: previousGeneration) }
  }
  package var protector: ProtectorKind { didSet { record.set(Number.protector, u8: protector.rawValue) } }
  package var deviceKey: DeviceKeyID { didSet { record[Number.deviceKey] = deviceKey.bytes } }
  /// The newest 64 of the device keys that this vault has replaced (field 20), oldest first.
  package private(set) var replacedKeys: [DeviceKeyID]
  /// How the passcode becomes a key; `nil` while none is set.
  package var passcodeDerivation: KeyDerivation? {
    didSet { record[Number.passcodeDerivation] = passcodeDerivation?.encoded }
  }
  /// How a member's phrase becomes a key; `nil` before the first one.
  package var phraseDerivation: KeyDerivation? {
    didSet { record[Number.phraseDerivation] = phraseDerivation?.encoded }
  }
  /// How a backup's passphrase becomes a key; `nil` in a vault that is no backup.
  package private(set) var backupDerivation: KeyDerivation?
  /// The public half of the recovery code; revoked or not.
  package var recoveryKey: [UInt8]? { didSet { record[Number.recoveryHalf] = recoveryKey } }
  /// The public halves of the factors by number.
  package var factors: [Factor: [UInt8]] { didSet { record[Number.factors] = Self.packed(factors) } }
  /// The enrolled set, sealed (field 14).
  package var enrolled: [UInt8]? { didSet { record[Number.enrolledSet] = enrolled } }
  package var factorMAC: [UInt8]? { didSet { record[Number.factorMAC] = factorMAC } }
  /// Why the vault protects nothing; empty for a vault that does.
  package private(set) var testMarks: TestMarks
  /// Sets, members and the recovery half whose slots are removed. The next unlock also removes them from `factors`, the
  /// enrolled set and ``recoveryKey``. Until then those stay as they are, because the factor MAC covers them.
  package var revoked: Set<Factor> { didSet { record[Number.revoked] = Self.packed(revoked) } }

  package init(vault: VaultID, created: Instant, protector: ProtectorKind, key: DeviceKeyID) {
    (self.vault, self.created, self.protector, deviceKey) = (vault, created, protector, key)
    (config, generation, testMarks) = (1, 1, [])
    (replacedKeys, factors, revoked) = ([], [:], [])
    record = Record()
    record.set(Number.format, u16: 1)
    record[Number.vault] = vault.bytes
    record.set(Number.created, i64: created.milliseconds)
    record.set(Number.config, u64: config)
    record.set(Number.lowestSuite, u8: 1)
    keepsFormer = false
    record[Number.features] = Self.packed(Self.features)
    record.set(Number.generation, u32: generation)
    record.set(Number.protector, u8: protector.rawValue)
    record[Number.deviceKey] = key.bytes
  }

  /// Whether the vault has a table of former secrets.
  package private(set) var keepsFormer: Bool

  /// Requires that each program that opens the vault knows former secrets.
  package mutating func keepFormer() {
    keepsFormer = true
    record[Number.features] = Self.packed(Self.features + [Self.former])
  }

  private static func packed(_ numbers: [UInt32]) -> [UInt8] {
    numbers.flatMap { number in
      var bytes = [UInt8](repeating: 0, count: 4)
      bytes.setBigEndian(number, at: 0)
      return bytes
    }
  }

  /// The fields are read here and nowhere else. Required ones come first, then the form of each optional field (section 5).
  package init(decoding bytes: [UInt8]) throws(VaultError) {
    let fields = try FieldReader(bytes, or: Self.unreadable)
    keepsFormer = try Self.checkVersion(of: fields)
    record = fields.record
    vault = try fields.required(record[Number.vault].flatMap(VaultID.init))
    created = Instant(milliseconds: try fields.i64(Number.created))
    config = try fields.u64(Number.config)
    generation = try fields.u32(Number.generation)
    protector = ProtectorKind(rawValue: try fields.u8(Number.protector))
    deviceKey = try fields.required(record[Number.deviceKey].flatMap(DeviceKeyID.init))
    try fields.check(1..<Head.greatest ~= config && 1..<UInt32.max ~= generation)
    passcodeDerivation = try Self.derivation(record[Number.passcodeDerivation])
    phraseDerivation = try Self.derivation(record[Number.phraseDerivation])
    backupDerivation = try Self.backupDerivation(record[Number.backup])
    previousGeneration = try fields.u32IfPresent(Number.previousGeneration)
    if let previousGeneration { try fields.check(previousGeneration == generation - 1) }
    recoveryKey = try fields.bytesIfPresent(Number.recoveryHalf, count: 32)
    factorMAC = try fields.bytesIfPresent(Number.factorMAC, count: 32)
    enrolled = record[Number.enrolledSet]
    testMarks =
      if let marks = record[Number.testMarks] { try fields.required(TestMarks(field: marks)) } else { [] }
    factors = [:]
    for entry in try fields.packedList(Number.factors, of: 36) {
      let factor = Factor(rawValue: entry.bigEndian(at: 0))
      try fields.check(factor.isKnown)
      factors[factor] = Array(entry[4...])
    }
    revoked = []
    for entry in try fields.packedList(Number.revoked, of: 4) {
      let factor = Factor(rawValue: entry.bigEndian(at: 0))
      try fields.check(factor.isSet || factor.isMember || factor == .recovery)
      revoked.insert(factor)
    }
    replacedKeys = []
    for entry in try fields.packedList(Number.replacedKeys, of: 16, inOrderOfTime: true) {
      replacedKeys.append(try fields.required(DeviceKeyID(entry)))
    }
    try fields.check(
      replacedKeys.isEmpty
        || !isBackup && replacedKeys.count <= Self.mostReplacedKeys && !replacedKeys.contains(deviceKey))
    guard protector.isKnown else {
      throw VaultError(
        .unsupported, "the vault's device key is kept by a protector this version does not know")
    }
  }

  private static func derivation(_ bytes: [UInt8]?) throws(VaultError) -> KeyDerivation? {
    guard let bytes else { return nil }
    return try KeyDerivation(decoding: bytes)
  }

  private static func backupDerivation(_ bytes: [UInt8]?) throws(VaultError) -> KeyDerivation? {
    guard let bytes else { return nil }
    let backup = try FieldReader(bytes, or: unreadable)
    _ = try (backup.i64(FieldNumber.Backup.made), backup.u32(FieldNumber.Backup.sourceGeneration))
    return try KeyDerivation(decoding: backup.bytes(FieldNumber.Backup.derivation))
  }

  /// How many replaced device keys field 20 remembers.
  package static let mostReplacedKeys = 64

  /// The required features of a vault, all introduced by the first release. A vault without one of them was made before
  /// that release.
  private static let features: [UInt32] = [1, 2, 3]
  /// What a vault with a table of former secrets requires besides.
  private static let former: UInt32 = 4

  /// Before any key is used, refuses a vault of a later version, or from before the first release.
  ///
  /// - Returns: Whether it has former secrets.
  private static func checkVersion(of fields: FieldReader) throws(VaultError) -> Bool {
    let (format, suite) = try (fields.u16(Number.format), fields.u8(Number.lowestSuite))
    let features = try fields.required(fields.record.packedList(Number.features, of: 4))
    let numbers = features.map { $0.bigEndian(at: 0) as UInt32 }
    guard format == 1, suite == 1, numbers.allSatisfy((Self.features + [Self.former]).contains)
    else {
      throw VaultError(
        .newerFormat, "the vault was written by a newer version of this program", hint: "update this program")
    }
    guard numbers.starts(with: Self.features) else {
      throw VaultError(
        .olderFormat,
        "made before the first release: export its items with the program that made it, then import them",
        hint: .exportWithOldProgram)
    }
    return numbers.count > Self.features.count
  }

  package var isBackup: Bool { backupDerivation != nil }
  package var hasPasscode: Bool { passcodeDerivation != nil }
  /// The recovery half in force: the root keys are wrapped to this half, and never to one that field 19 revokes.
  package var recoveryHalf: [UInt8]? { revoked.contains(.recovery) ? nil : recoveryKey }

  /// Marks the header as a backup, which no device key of the vault opens.
  package mutating func makeBackup(made: Instant, _ derivation: KeyDerivation) {
    replacedKeys = []
    record[Number.replacedKeys] = nil
    backupDerivation = derivation
    var backup = Record()
    backup.set(FieldNumber.Backup.made, i64: made.milliseconds)
    backup[FieldNumber.Backup.derivation] = derivation.encoded
    backup.set(FieldNumber.Backup.sourceGeneration, u32: generation)
    record[Number.backup] = backup.encoded
  }

  /// Removes the mark of a backup. A new vault has replaced no device key.
  package mutating func makeVault() {
    replacedKeys = []
    record[Number.replacedKeys] = nil
    backupDerivation = nil
    record[Number.backup] = nil
  }

  /// Remembers a device key that another one has replaced, as the newest of at most 64.
  package mutating func addReplaced(_ key: DeviceKeyID) {
    replacedKeys = (replacedKeys.filter { $0 != key } + [key]).suffix(Self.mostReplacedKeys)
    record[Number.replacedKeys] = replacedKeys.flatMap(\.bytes)
  }

  /// Adds marks to those that the header has. No mark is ever removed.
  package mutating func add(_ marks: TestMarks) {
    guard !marks.isEmpty else { return }
    testMarks.formUnion(marks)
    record.set(Number.testMarks, u8: testMarks.rawValue)
  }

  /// Whether keys may be wrapped to a factor, and the factor may open them again.
  package func isAlive(_ factor: Factor) -> Bool { factors[factor] != nil && !revoked.contains(factor) }

  /// The bytes that the factor MAC covers: every half that keys may be wrapped to, how a new member's phrase is
  /// derived, the owners of the halves, where the chains of the audit log begin, and whether the previous generation's
  /// keys are in force.
  ///
  /// - Parameters:
  ///   - set: The record that field 14 seals; `nil` where the field is absent.
  ///   - auditRoots: The subjects of the slots of audit roots, in any order.
  package func vouchedFor(_ set: [UInt8]?, auditRoots: [UInt32]) -> [UInt8] {
    var targets = Record()
    targets[FieldNumber.Vouched.recoveryHalf] = record[Number.recoveryHalf]
    targets[FieldNumber.Vouched.factors] = record[Number.factors]
    targets[FieldNumber.Vouched.phraseDerivation] = record[Number.phraseDerivation]
    targets[FieldNumber.Vouched.enrolledSet] = set
    targets[FieldNumber.Vouched.auditRoots] = auditRoots.sorted().flatMap { Factor(rawValue: $0).bytes }
    targets[FieldNumber.Vouched.previousGeneration] = record[Number.previousGeneration]
    return targets.encoded
  }

  /// What the header MAC covers: the body and every byte of every slot.
  package func authenticatedBytes(with slots: [SlotRow]) -> [UInt8] {
    var whole = Record()
    whole[FieldNumber.HeaderMAC.header] = record.encoded
    whole[FieldNumber.HeaderMAC.slots] =
      Record.list(
        slots.sorted { $0.id < $1.id }.map { slot in
          var fields = Record()
          fields.set(FieldNumber.SlotRecord.id, u64: UInt64(bitPattern: slot.id))
          fields.set(FieldNumber.SlotRecord.kind, u8: slot.kind)
          fields.set(FieldNumber.SlotRecord.subject, u32: slot.subject)
          fields.set(FieldNumber.SlotRecord.generation, u32: slot.generation)
          fields.set(FieldNumber.SlotRecord.opener, u8: slot.opener)
          fields[FieldNumber.SlotRecord.openerID] = slot.openerID
          fields[FieldNumber.SlotRecord.body] = slot.body
          return fields.encoded
        }
      ).encoded
    return whole.encoded
  }

  /// Factors with their public halves, as a packed list in ascending order; `nil` for none.
  private static func packed(_ factors: [Factor: [UInt8]]) -> [UInt8]? {
    guard !factors.isEmpty else { return nil }
    return factors.sorted { $0.key.rawValue < $1.key.rawValue }.flatMap { factor, half in factor.bytes + half
    }
  }

  private static func packed(_ factors: Set<Factor>) -> [UInt8]? {
    guard !factors.isEmpty else { return nil }
    return factors.sorted { $0.rawValue < $1.rawValue }.flatMap(\.bytes)
  }

  private static var unreadable: VaultError {
    VaultError(.damaged, "the vault's header is not readable", hint: "restore from a backup")
  }
}
