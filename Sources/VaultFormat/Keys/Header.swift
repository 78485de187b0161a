package import VaultStorage

/// The public parameters of a vault (section 5). Fields unknown to this version are kept.
package struct Header: Sendable, Equatable {
  package private(set) var record: Record

  package init(vault: VaultID, created: Instant, protector: ProtectorKind, key: DeviceKeyID) {
    record = Record()
    record.set(1, u16: 1)
    record[2] = vault.bytes
    record.set(3, i64: created.milliseconds)
    record.set(4, u64: 1)
    record.set(5, u8: 1)
    record.set(6, u32: Self.firstRelease)
    record.set(7, u32: 1)
    record.set(9, u8: protector.rawValue)
    record[10] = key.bytes
  }

  package init(decoding bytes: [UInt8]) throws(VaultError) {
    guard let record = try? Record(decoding: bytes), let format = try? record.u16(1) else {
      throw Self.unreadable
    }
    try Self.checkVersion(of: record, format)
    self.record = record
    guard record[2].flatMap(VaultID.init) != nil, (try? record.i64(3)) != nil,
      let config = try? record.u64(4), 1..<Head.greatest ~= config,
      let generation = try? record.u32(7), 1..<UInt32.max ~= generation, let protector = try? record.u8(9),
      record[10].flatMap(DeviceKeyID.init) != nil, try isReadable()
    else { throw Self.unreadable }
    guard ProtectorKind(rawValue: protector) != nil else {
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
    guard record[8] == nil || (generation > 0 && previousGeneration == generation - 1),
      isWhole(12, byteCount: 32),
      isWhole(16, byteCount: 32),
      record[17].map({ $0 == [1] }) ?? true
    else { return false }
    guard isPackedList(13, of: 36, where: \.isKnown),
      isPackedList(19, of: 4, where: { $0.isSet || $0.isMember || $0 == .recovery })
    else { return false }
    guard let replaced = record[20] else { return true }
    return !isBackup && !replaced.isEmpty && replaced.count <= 16 * Self.mostReplacedKeys
      && record.packedList(20, of: 16, inOrderOfTime: true)?.contains(deviceKey.bytes) == false
  }

  /// Whether a field is absent, or a packed list of factors that `isRight` accepts.
  private func isPackedList(_ field: UInt16, of byteCount: Int, where isRight: (Factor) -> Bool) -> Bool {
    guard let bytes = record[field] else { return true }
    guard !bytes.isEmpty, let entries = record.packedList(field, of: byteCount) else { return false }
    return entries.allSatisfy { isRight(Factor(rawValue: $0.bigEndian(at: 0))) }
  }

  /// How many replaced device keys field 20 remembers.
  package static let mostReplacedKeys = 64

  /// Required feature 1: what the first release brought. A vault without it was made before.
  private static let firstRelease: UInt32 = 1

  /// Refuses a vault of a later version, or from before the first release, before any key is used.
  private static func checkVersion(of record: Record, _ format: UInt16) throws(VaultError) {
    guard let suite = try? record.u8(5), let features = record.packedList(6, of: 4) else { throw unreadable }
    let numbers = features.map { $0.bigEndian(at: 0) as UInt32 }
    guard format == 1, suite == 1, numbers.allSatisfy({ $0 == firstRelease }) else {
      throw VaultError(
        .newerFormat, "the vault was written by a newer version of this program", hint: "update this program")
    }
    guard numbers.contains(firstRelease) else {
      throw VaultError(
        .olderFormat,
        "made before the first release: open it with commit b5afbda and export its items, then import them",
        hint: "docs/guides/backup-and-recovery.md says what an export leaves out")
    }
  }

  package var vault: VaultID { VaultID(record[2]!)! }
  package var created: Instant { Instant(milliseconds: (try? record.i64(3)) ?? 0) }
  package var generation: UInt32 {
    get { (try? record.u32(7)) ?? 0 }
    set { record.set(7, u32: newValue) }
  }
  package var previousGeneration: UInt32? {
    get { try? record.u32(8) }
    set { record.set(8, u32: newValue) }
  }
  package var isCheap: Bool { (try? record.u8(17)) == 1 }
  package var isBackup: Bool { record[18] != nil }

  /// How a backup's passphrase becomes a key.
  package func backupDerivation() throws(VaultError) -> KeyDerivation? {
    guard let bytes = record[18] else { return nil }
    guard let backup = try? Record(decoding: bytes), (try? backup.i64(1)) != nil, let derivation = backup[2],
      (try? backup.u32(3)) != nil
    else { throw Self.unreadable }
    return try KeyDerivation(decoding: derivation)
  }

  /// Marks a backup, or takes the mark away.
  package mutating func setBackup(made: Instant, _ derivation: KeyDerivation?) {
    guard let derivation else { return record[18] = nil }
    var backup = Record()
    backup.set(1, i64: made.milliseconds)
    backup[2] = derivation.encoded
    backup.set(3, u32: generation)
    record[18] = backup.encoded
  }

  /// +1 with every change of slots, factors, generation, protector.
  package var config: UInt64 {
    get { (try? record.u64(4)) ?? 0 }
    set { record.set(4, u64: newValue) }
  }
  package var protector: ProtectorKind {
    get { (try? record.u8(9)).flatMap(ProtectorKind.init)! }
    set { record.set(9, u8: newValue.rawValue) }
  }
  package var deviceKey: DeviceKeyID {
    get { DeviceKeyID(record[10]!)! }
    set { record[10] = newValue.bytes }
  }
  /// Device keys that this vault had and has replaced (field 20), the oldest first: the newest 64.
  package var replacedKeys: [DeviceKeyID] {
    get {
      let bytes = record[20] ?? []
      return stride(from: 0, to: bytes.count - 15, by: 16).compactMap {
        DeviceKeyID(Array(bytes[$0..<$0 + 16]))
      }
    }
    set {
      let newest = newValue.suffix(Self.mostReplacedKeys)
      record[20] = newest.isEmpty ? nil : newest.flatMap(\.bytes)
    }
  }
  /// The public half of the recovery code; revoked or not.
  package var recoveryKey: [UInt8]? {
    get { record[12] }
    set { record[12] = newValue }
  }
  /// The recovery half in force: the root keys are wrapped to this one, and to none that field 19 revokes.
  package var recoveryHalf: [UInt8]? { revoked.contains(.recovery) ? nil : recoveryKey }
  package var factorMAC: [UInt8]? {
    get { record[16] }
    set { record[16] = newValue }
  }
  package mutating func markCheap() { record.set(17, u8: 1) }

  /// How the passcode becomes a key; `nil` while none is set.
  package func passcodeDerivation() throws(VaultError) -> KeyDerivation? {
    guard let bytes = record[11] else { return nil }
    return try KeyDerivation(decoding: bytes)
  }
  package var hasPasscode: Bool { record[11] != nil }
  package mutating func setPasscodeDerivation(_ derivation: KeyDerivation?) {
    record[11] = derivation?.encoded
  }

  /// The public halves of the factors by number.
  package var factors: [Factor: [UInt8]] {
    get {
      let bytes = record[13] ?? []
      var factors: [Factor: [UInt8]] = [:]
      for start in stride(from: 0, to: bytes.count - 35, by: 36) {
        let number: UInt32 = bytes.bigEndian(at: start)
        factors[Factor(rawValue: number)] = Array(bytes[start + 4..<start + 36])
      }
      return factors
    }
    set {
      let sorted = newValue.sorted { $0.key.rawValue < $1.key.rawValue }
      record[13] =
        sorted.isEmpty
        ? nil
        : sorted.flatMap { factor, key in factor.bytes + key }
    }
  }

  /// The enrolled set, sealed (field 14).
  package var enrolled: [UInt8]? {
    get { record[14] }
    set { record[14] = newValue }
  }

  /// How a member's phrase becomes a key; `nil` before the first one.
  package func phraseDerivation() throws(VaultError) -> KeyDerivation? {
    guard let bytes = record[15] else { return nil }
    return try KeyDerivation(decoding: bytes)
  }
  package mutating func setPhraseDerivation(_ derivation: KeyDerivation?) { record[15] = derivation?.encoded }

  /// Sets, members and the recovery half whose slots are removed. The next unlock also removes them from `factors`, the
  /// enrolled set and ``recoveryKey``. Until then those stay as they are, because the factor MAC covers them.
  package var revoked: Set<Factor> {
    get {
      let bytes = record[19] ?? []
      return Set(
        stride(from: 0, to: bytes.count - 3, by: 4).map { Factor(rawValue: bytes.bigEndian(at: $0)) })
    }
    set {
      let numbers = newValue.map(\.rawValue).sorted()
      record[19] = numbers.isEmpty ? nil : numbers.flatMap { Factor(rawValue: $0).bytes }
    }
  }

  /// Whether something may be wrapped to a factor and opened by it again.
  package func isAlive(_ factor: Factor) -> Bool { factors[factor] != nil && !revoked.contains(factor) }

  /// What the factor MAC covers: every half that something may be wrapped to, how a new member's phrase is derived, the
  /// owners of the halves, where the chains of the audit log begin, and whether the keys of the generation before are in
  /// force.
  ///
  /// - Parameters:
  ///   - set: The record that field 14 seals; `nil` where the field is absent.
  ///   - auditRoots: The subjects of the slots of audit roots, in any order.
  package func vouchedFor(_ set: [UInt8]?, auditRoots: [UInt32]) -> [UInt8] {
    var targets = Record()
    targets[1] = record[12]
    targets[2] = record[13]
    targets[3] = record[15]
    targets[4] = set
    targets[5] = auditRoots.sorted().flatMap { Factor(rawValue: $0).bytes }
    targets[6] = record[8]
    return targets.encoded
  }

  /// What the header MAC covers: the body and every byte of every slot.
  package func authenticatedBytes(with slots: [SlotRow]) -> [UInt8] {
    var whole = Record()
    whole[1] = record.encoded
    whole[2] =
      Record.list(
        slots.sorted { $0.id < $1.id }.map { slot in
          var fields = Record()
          fields.set(1, u64: UInt64(bitPattern: slot.id))
          fields.set(2, u8: slot.kind)
          fields.set(3, u32: slot.subject)
          fields.set(4, u32: slot.generation)
          fields.set(5, u8: slot.opener)
          fields[6] = slot.openerID
          fields[7] = slot.body
          return fields.encoded
        }
      ).encoded
    return whole.encoded
  }

  private static var unreadable: VaultError {
    VaultError(.damaged, "the vault's header is not readable", hint: "restore from a backup")
  }
}
