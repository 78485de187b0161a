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

  package private(set) var record: Record

  package init(vault: VaultID, created: Instant, protector: ProtectorKind, key: DeviceKeyID) {
    record = Record()
    record.set(Number.format, u16: 1)
    record[Number.vault] = vault.bytes
    record.set(Number.created, i64: created.milliseconds)
    record.set(Number.config, u64: 1)
    record.set(Number.lowestSuite, u8: 1)
    record[Number.features] = Self.features.flatMap { number in
      var bytes = [UInt8](repeating: 0, count: 4)
      bytes.setBigEndian(number, at: 0)
      return bytes
    }
    record.set(Number.generation, u32: 1)
    record.set(Number.protector, u8: protector.rawValue)
    record[Number.deviceKey] = key.bytes
  }

  package init(decoding bytes: [UInt8]) throws(VaultError) {
    guard let record = try? Record(decoding: bytes), let format = try? record.u16(Number.format) else {
      throw Self.unreadable
    }
    try Self.checkVersion(of: record, format)
    self.record = record
    guard record[Number.vault].flatMap(VaultID.init) != nil, (try? record.i64(Number.created)) != nil,
      let config = try? record.u64(Number.config), 1..<Head.greatest ~= config,
      let generation = try? record.u32(Number.generation), 1..<UInt32.max ~= generation,
      let protector = try? record.u8(Number.protector),
      record[Number.deviceKey].flatMap(DeviceKeyID.init) != nil, try isReadable()
    else { throw Self.unreadable }
    guard ProtectorKind(rawValue: protector).isKnown else {
      throw VaultError(
        .unsupported, "the vault's device key is kept by a protector this version does not know")
    }
  }

  /// Whether each optional field that is present has the required form (section 5).
  private func isReadable() throws(VaultError) -> Bool {
    _ = try (passcodeDerivation(), phraseDerivation(), backupDerivation())
    func isWhole(_ field: UInt16, byteCount: Int) -> Bool {
      record[field].map { $0.count == byteCount } ?? true
    }
    guard
      record[Number.previousGeneration] == nil || (generation > 0 && previousGeneration == generation - 1),
      isWhole(Number.recoveryHalf, byteCount: 32),
      isWhole(Number.factorMAC, byteCount: 32),
      record[Number.testMarks].map({ TestMarks(field: $0) != nil }) ?? true
    else { return false }
    guard isPackedList(Number.factors, of: 36, where: \.isKnown),
      isPackedList(Number.revoked, of: 4, where: { $0.isSet || $0.isMember || $0 == .recovery })
    else { return false }
    guard let replaced = record[Number.replacedKeys] else { return true }
    return !isBackup && !replaced.isEmpty && replaced.count <= 16 * Self.mostReplacedKeys
      && record.packedList(Number.replacedKeys, of: 16, inOrderOfTime: true)?.contains(deviceKey.bytes)
        == false
  }

  /// Whether a field is absent, or a packed list of factors that `isRight` accepts.
  private func isPackedList(_ field: UInt16, of byteCount: Int, where isRight: (Factor) -> Bool) -> Bool {
    guard let bytes = record[field] else { return true }
    guard !bytes.isEmpty, let entries = record.packedList(field, of: byteCount) else { return false }
    return entries.allSatisfy { isRight(Factor(rawValue: $0.bigEndian(at: 0))) }
  }

  /// How many replaced device keys field 20 remembers.
  package static let mostReplacedKeys = 64

  /// The required features of a vault, all introduced by the first release. A vault without one of them was made before
  /// that release.
  private static let features: [UInt32] = [1, 2, 3]

  /// Before any key is used, refuses a vault of a later version, or from before the first release.
  private static func checkVersion(of record: Record, _ format: UInt16) throws(VaultError) {
    guard let suite = try? record.u8(Number.lowestSuite),
      let features = record.packedList(Number.features, of: 4)
    else { throw unreadable }
    let numbers = features.map { $0.bigEndian(at: 0) as UInt32 }
    guard format == 1, suite == 1, numbers.allSatisfy(Self.features.contains) else {
      throw VaultError(
        .newerFormat, "the vault was written by a newer version of this program", hint: "update this program")
    }
    guard numbers == Self.features else {
      throw VaultError(
        .olderFormat,
        "made before the first release: export its items with the program that made it, then import them",
        hint: Hint(
          .exportWithOldProgram,
          saying:
            "docs/guides/backup-and-recovery.md says which commit that is, and what an export leaves out"))
    }
  }

  package var vault: VaultID { VaultID(record[Number.vault]!)! }
  package var created: Instant { Instant(milliseconds: (try? record.i64(Number.created)) ?? 0) }
  package var generation: UInt32 {
    get { (try? record.u32(Number.generation)) ?? 0 }
    set { record.set(Number.generation, u32: newValue) }
  }
  package var previousGeneration: UInt32? {
    get { try? record.u32(Number.previousGeneration) }
    set { record.set(Number.previousGeneration, u32: newValue) }
  }
  /// Why the vault protects nothing; empty for a vault that does.
  package var testMarks: TestMarks { record[Number.testMarks].flatMap(TestMarks.init(field:)) ?? [] }
  package var isBackup: Bool { record[Number.backup] != nil }

  /// How a backup's passphrase becomes a key.
  package func backupDerivation() throws(VaultError) -> KeyDerivation? {
    guard let bytes = record[Number.backup] else { return nil }
    guard let backup = try? Record(decoding: bytes), (try? backup.i64(FieldNumber.Backup.made)) != nil,
      let derivation = backup[FieldNumber.Backup.derivation],
      (try? backup.u32(FieldNumber.Backup.sourceGeneration)) != nil
    else { throw Self.unreadable }
    return try KeyDerivation(decoding: derivation)
  }

  /// Marks the header as a backup, or removes the mark.
  package mutating func setBackup(made: Instant, _ derivation: KeyDerivation?) {
    guard let derivation else { return record[Number.backup] = nil }
    var backup = Record()
    backup.set(FieldNumber.Backup.made, i64: made.milliseconds)
    backup[FieldNumber.Backup.derivation] = derivation.encoded
    backup.set(FieldNumber.Backup.sourceGeneration, u32: generation)
    record[Number.backup] = backup.encoded
  }

  /// Each change of slots, factors, generation or protector adds 1.
  package var config: UInt64 {
    get { (try? record.u64(Number.config)) ?? 0 }
    set { record.set(Number.config, u64: newValue) }
  }
  package var protector: ProtectorKind {
    get { ProtectorKind(rawValue: (try? record.u8(Number.protector))!) }
    set { record.set(Number.protector, u8: newValue.rawValue) }
  }
  package var deviceKey: DeviceKeyID {
    get { DeviceKeyID(record[Number.deviceKey]!)! }
    set { record[Number.deviceKey] = newValue.bytes }
  }
  /// The newest 64 of the device keys that this vault has replaced (field 20), oldest first.
  package var replacedKeys: [DeviceKeyID] {
    get {
      let bytes = record[Number.replacedKeys] ?? []
      return stride(from: 0, to: bytes.count - 15, by: 16).compactMap {
        DeviceKeyID(Array(bytes[$0..<$0 + 16]))
      }
    }
    set {
      let newest = newValue.suffix(Self.mostReplacedKeys)
      record[Number.replacedKeys] = newest.isEmpty ? nil : newest.flatMap(\.bytes)
    }
  }
  /// The public half of the recovery code; revoked or not.
  package var recoveryKey: [UInt8]? {
    get { record[Number.recoveryHalf] }
    set { record[Number.recoveryHalf] = newValue }
  }
  /// The recovery half in force: the root keys are wrapped to this half, and never to one that field 19 revokes.
  package var recoveryHalf: [UInt8]? { revoked.contains(.recovery) ? nil : recoveryKey }
  package var factorMAC: [UInt8]? {
    get { record[Number.factorMAC] }
    set { record[Number.factorMAC] = newValue }
  }

  /// Adds marks to those that the header has. No mark is ever removed.
  package mutating func add(_ marks: TestMarks) {
    if !marks.isEmpty { record.set(Number.testMarks, u8: testMarks.union(marks).rawValue) }
  }

  /// How the passcode becomes a key; `nil` while none is set.
  package func passcodeDerivation() throws(VaultError) -> KeyDerivation? {
    guard let bytes = record[Number.passcodeDerivation] else { return nil }
    return try KeyDerivation(decoding: bytes)
  }
  package var hasPasscode: Bool { record[Number.passcodeDerivation] != nil }
  package mutating func setPasscodeDerivation(_ derivation: KeyDerivation?) {
    record[Number.passcodeDerivation] = derivation?.encoded
  }

  /// The public halves of the factors by number.
  package var factors: [Factor: [UInt8]] {
    get {
      let bytes = record[Number.factors] ?? []
      var factors: [Factor: [UInt8]] = [:]
      for start in stride(from: 0, to: bytes.count - 35, by: 36) {
        let number: UInt32 = bytes.bigEndian(at: start)
        factors[Factor(rawValue: number)] = Array(bytes[start + 4..<start + 36])
      }
      return factors
    }
    set {
      let sorted = newValue.sorted { $0.key.rawValue < $1.key.rawValue }
      record[Number.factors] =
        sorted.isEmpty
        ? nil
        : sorted.flatMap { factor, key in factor.bytes + key }
    }
  }

  /// The enrolled set, sealed (field 14).
  package var enrolled: [UInt8]? {
    get { record[Number.enrolledSet] }
    set { record[Number.enrolledSet] = newValue }
  }

  /// How a member's phrase becomes a key; `nil` before the first one.
  package func phraseDerivation() throws(VaultError) -> KeyDerivation? {
    guard let bytes = record[Number.phraseDerivation] else { return nil }
    return try KeyDerivation(decoding: bytes)
  }
  package mutating func setPhraseDerivation(_ derivation: KeyDerivation?) {
    record[Number.phraseDerivation] = derivation?.encoded
  }

  /// Sets, members and the recovery half whose slots are removed. The next unlock also removes them from `factors`, the
  /// enrolled set and ``recoveryKey``. Until then those stay as they are, because the factor MAC covers them.
  package var revoked: Set<Factor> {
    get {
      let bytes = record[Number.revoked] ?? []
      return Set(
        stride(from: 0, to: bytes.count - 3, by: 4).map { Factor(rawValue: bytes.bigEndian(at: $0)) })
    }
    set {
      let numbers = newValue.map(\.rawValue).sorted()
      record[Number.revoked] = numbers.isEmpty ? nil : numbers.flatMap { Factor(rawValue: $0).bytes }
    }
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

  private static var unreadable: VaultError {
    VaultError(.damaged, "the vault's header is not readable", hint: "restore from a backup")
  }
}
