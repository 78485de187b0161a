import PasswordDerivation
import TestSupport
import Testing
import VaultExpectations
import VaultFormat

@Suite("Headers", .bounded)
struct HeaderTests {
  private typealias Number = FieldNumber.Header

  private static let key = DeviceKeyID([UInt8](repeating: 2, count: 16))!
  private static let derivation = KeyDerivation(
    parameters: Argon2id.Parameters(memoryKiB: 64, iterations: 3, parallelism: 1),
    salt: [UInt8](repeating: 4, count: 16))

  private static var plain: Header {
    Header(
      vault: VaultID([UInt8](repeating: 1, count: 16))!, created: Instant(milliseconds: -7), protector: .file,
      key: key)
  }

  /// A header with every field except those of a backup, each set by its property.
  private static var full: Header {
    var header = plain
    header.config = 9
    header.generation = 5
    header.previousGeneration = 4
    header.protector = .secretService
    header.addReplaced(DeviceKeyID([UInt8](repeating: 3, count: 16))!)
    header.passcodeDerivation = derivation
    header.phraseDerivation = derivation
    header.recoveryKey = [UInt8](repeating: 5, count: 32)
    header.factors = [.passcode: [UInt8](repeating: 6, count: 32), .set(2): [UInt8](repeating: 7, count: 32)]
    header.enrolled = [1, 2, 3]
    header.factorMAC = [UInt8](repeating: 8, count: 32)
    header.add(.cheapDerivation)
    header.revoked = [.recovery, .member(3)]
    return header
  }

  /// Verified to fail when the previous generation is read from the field of the generation, and when a change of the factors is not
  /// written to the record.
  @Test("what is set is what is read again, and the bytes are the same")
  func roundTrip() throws {
    for header in [Self.plain, Self.full] {
      let read = try Header(decoding: header.record.encoded)
      #expect(read == header)
      #expect(read.record.encoded == header.record.encoded)
    }
    var backup = Self.plain
    backup.addReplaced(DeviceKeyID([UInt8](repeating: 3, count: 16))!)
    backup.makeBackup(made: Instant(milliseconds: 1), Self.derivation)
    #expect(try Header(decoding: backup.record.encoded) == backup && backup.isBackup)
    backup.makeVault()
    #expect(backup == Self.plain)
  }

  @Test("a field that is set back leaves no byte")
  func absentFields() {
    var header = Self.full
    (header.previousGeneration, header.passcodeDerivation, header.phraseDerivation) = (nil, nil, nil)
    (header.recoveryKey, header.enrolled, header.factorMAC) = (nil, nil, nil)
    (header.factors, header.revoked) = ([:], [])
    let fields: [UInt16] = [
      Number.previousGeneration, Number.passcodeDerivation, Number.phraseDerivation, Number.recoveryHalf,
      Number.enrolledSet, Number.factorMAC, Number.factors, Number.revoked,
    ]
    for field in fields { #expect(header.record[field] == nil) }
  }

  @Test("fields of a later version stay through every change")
  func unknownFields() throws {
    var record = Self.full.record
    record[900] = [1, 2]
    var header = try Header(decoding: record.encoded)
    header.config += 1
    header.factors = [:]
    header.add(.predictableRandom)
    #expect(header.record[900] == [1, 2])
    #expect(try Header(decoding: header.record.encoded) == header)
  }

  /// Verified to fail when a replaced key is added twice.
  @Test("a header remembers the newest 64 device keys that it has replaced, each once")
  func replacedKeys() throws {
    var header = Self.plain
    let keys = (10..<80).map { DeviceKeyID([UInt8](repeating: $0, count: 16))! }
    for key in keys + [keys[20]] { header.addReplaced(key) }
    #expect(header.replacedKeys == keys[6..<20] + keys[21...] + [keys[20]])
    #expect(try Header(decoding: header.record.encoded).replacedKeys == header.replacedKeys)
  }

  /// Verified to fail when an empty list of factors is accepted.
  @Test(
    "a missing or malformed field is damage",
    arguments: [
      (Number.vault, nil), (Number.created, [1]), (Number.config, nil), (Number.config, .zero(8)),
      (Number.lowestSuite, nil), (Number.features, [1]), (Number.generation, .zero(4)),
      (Number.generation, [255, 255, 255, 255]), (Number.previousGeneration, [0, 0, 0, 5]),
      (Number.previousGeneration, [4]), (Number.protector, nil), (Number.deviceKey, [1]),
      (Number.passcodeDerivation, [1]), (Number.phraseDerivation, []), (Number.backup, []),
      (Number.recoveryHalf, .zero(31)), (Number.factorMAC, .zero(33)), (Number.testMarks, [4]),
      (Number.testMarks, []), (Number.factors, []), (Number.factors, .zero(36)), (Number.factors, .zero(35)),
      (Number.revoked, []), (Number.revoked, Factor.passcode.bytes), (Number.replacedKeys, []),
      (Number.replacedKeys, key.bytes), (Number.replacedKeys, .zero(32)), (Number.replacedKeys, .zero(15)),
    ] as [(UInt16, [UInt8]?)])
  func damage(field: UInt16, bytes: [UInt8]?) {
    var record = Self.full.record
    record[field] = bytes
    expect(.damaged) { () throws(VaultError) in _ = try Header(decoding: record.encoded) }
  }

  @Test("a protector or a derivation that this version does not know is not damage")
  func unknownValues() {
    var (protector, derivation) = (Self.full.record, Self.full.record)
    protector[Number.protector] = [77]
    var later = Record()
    later.set(FieldNumber.Derivation.algorithm, u8: 2)
    for (number, value) in [(2, 0x13), (3, 64), (4, 3), (5, 1)] as [(UInt16, UInt32)] {
      later.set(number, u32: value)
    }
    later[FieldNumber.Derivation.salt] = .zero(16)
    derivation[Number.passcodeDerivation] = later.encoded
    for record in [protector, derivation] {
      expect(.unsupported) { () throws(VaultError) in _ = try Header(decoding: record.encoded) }
    }
  }
}

extension [UInt8] {
  fileprivate static func zero(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
}
