import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultCrypto
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("The data of consents", .bounded)
struct ConsentRecordTests {
  private let code = "123456"

  @Test("a holder stores no code and judges none")
  func holder() throws {
    let made = ConsentRecord.holding()
    #expect(made.role == .holder && made.data.bytesForTesting == [0, 1, 0, 0, 0, 1, 1])
    let read = try ConsentRecord(made.data.copy())
    let isIssued = read.issued(SecretBytes(testing: code))
    #expect(read.role == .holder && !isIssued)
  }

  /// Verified to fail when the key is the same for every item, and when the code is stored as it is.
  @Test("an issuer judges its code, and equal codes do not show")
  func issuer() throws {
    let random = SystemRandom()
    let first = try ConsentRecord.issuing(SecretBytes(testing: code), random: random)
    let second = try ConsentRecord.issuing(SecretBytes(testing: code), random: random)
    let (data, other) = (first.data.bytesForTesting, second.data.bytesForTesting)
    #expect(data.count == 83 && data[13..<45] != other[13..<45] && data[51...] != other[51...])
    let expected = KeyedHMAC(key: SecretBytes(copying: Array(data[13..<45]))).code(for: Array(code.utf8))
    expect(Array(data[51...]), equals: expected)
    let read = try ConsentRecord(first.data.copy())
    let typed = ["123456", "123457", "", "1234567", "12345"]
    let accepted = typed.filter { read.issued(SecretBytes(testing: $0)) }
    #expect(read.role == .issuer && accepted == [code])
  }

  @Test("data of another shape is damage, another role belongs to a later version")
  func refused() throws {
    var record = Record()
    record.set(1, u8: 3)
    expect(.unsupported) { () throws(VaultError) in
      _ = try ConsentRecord(SecretBytes(copying: record.encoded))
    }
    record.set(1, u8: 2)
    for (key, tag) in [(nil, 32), (32, nil), (31, 32), (32, 33), (nil, nil)] as [(Int?, Int?)] {
      var record = record
      record[2] = key.map { [UInt8](repeating: 1, count: $0) }
      record[3] = tag.map { [UInt8](repeating: 1, count: $0) }
      expect(.damaged) { () throws(VaultError) in _ = try ConsentRecord(SecretBytes(copying: record.encoded))
      }
    }
    expect(.damaged) { () throws(VaultError) in _ = try ConsentRecord(SecretBytes(copying: [])) }
    expect(.damaged) { () throws(VaultError) in _ = try ConsentRecord(SecretBytes(copying: [0, 1, 0])) }
    record.set(1, u8: 1)
    record[3] = [UInt8](repeating: 1, count: 32)
    expect(.damaged) { () throws(VaultError) in _ = try ConsentRecord(SecretBytes(copying: record.encoded)) }
  }
}
