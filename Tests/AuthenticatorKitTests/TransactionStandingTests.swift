import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultStorage
import VaultTestKit

@Suite("Standing of transactions", .bounded)
struct TransactionStandingTests {
  private let boot = [UInt8](1...16)

  private func read(_ bytes: [UInt8]) -> TransactionStanding? {
    var attributes = Attributes()
    attributes[Attribute<[UInt8]>(code: 92)] = bytes
    return attributes.standing
  }

  /// The bytes of the page, section 6.
  @Test("state, deadline and boot have their places, and are read again")
  func layout() throws {
    let deadline = Deadline(milliseconds: 0x0102_0304_0506_0708, boot: Bytes16(boot))
    for (number, state) in TransactionState.allCases.enumerated() {
      let standing = TransactionStanding(state, until: deadline)
      var attributes = Attributes()
      attributes.standing = standing
      let bytes = [UInt8(number), 1, 2, 3, 4, 5, 6, 7, 8] + boot
      #expect(attributes[Attribute<[UInt8]>(code: 92)] == bytes && attributes.codes == [92])
      let found = try #require(read(bytes))
      #expect(found == standing && found.state == state && found.deadline == deadline)
    }
    expect(TransactionState.allCases, equals: [.pending, .accepted, .rejected, .cancelled, .timedOut])
  }

  /// The bytes of the page, section 6.
  @Test("what a server is to get has its places, and other forms are damaged")
  func answer() throws {
    var record = TransactionRecord(
      context: "x", isCut: true, factors: 7, action: 1, credential: ItemID([UInt8](1...16))!)
    record.answer = TransactionRecord.Answer(factor: 4, code: "755224", counter: 9)
    let field: (UInt16, [UInt8]) -> [UInt8] = { [0, UInt8($0), 0, 0, 0, UInt8($1.count)] + $1 }
    let answer = field(1, [4]) + field(2, Array("755224".utf8)) + field(3, [0, 0, 0, 0, 0, 0, 0, 9])
    let begin = field(1, [0x78]) + field(2, [7]) + field(3, [1]) + field(4, [UInt8](1...16))
    let bytes = begin + field(5, answer) + field(6, [1])
    expect(record.data.expose { $0.array }, equals: bytes)
    let read = try TransactionRecord(SecretBytes(copying: bytes))
    #expect(read.answer == record.answer && read.isCut)
    #expect(try TransactionRecord(SecretBytes(copying: begin)).answer == nil)
    for flawed in [[], field(2, [0x30]), field(1, [4]) + field(2, []), field(1, [4]) + field(3, [0])] {
      expect(.damaged) { () throws(VaultError) in
        _ = try TransactionRecord(SecretBytes(copying: begin + field(5, flawed)))
      }
    }
  }

  /// Verified to fail when the state of a longer value is believed.
  @Test("fewer bytes are nothing; a later state, and one with more bytes, keeps its deadline")
  func unknown() throws {
    let bytes = TransactionStanding(.pending, until: Deadline(milliseconds: 9, boot: Bytes16(boot))).bytes
    for other in [[], [UInt8](bytes.dropLast())] { #expect(read(other) == nil) }
    let longer = try #require(read(bytes + [0]))
    #expect(longer.state == nil && longer.deadline.milliseconds == 9)
    let later = try #require(read([5] + bytes.dropFirst()))
    #expect(later.state == nil && later.deadline.milliseconds == 9 && later.bytes.first == 5)
    var attributes = Attributes()
    attributes[Attribute<String>(code: 92)] = String(repeating: "x", count: 25)
    #expect(attributes.standing == nil)
  }

  @Test("seconds are rounded up, and are none after it, in another boot and where the boot cannot be told")
  func secondsLeft() throws {
    let clock = FixedClock()
    let deadline = try Deadline(seconds: 70, clock: clock)
    expect(deadline.secondsLeft(BootTime(clock)), equals: 70)
    clock.advance(by: .milliseconds(1))
    expect(deadline.secondsLeft(BootTime(clock)), equals: 70)
    clock.advance(by: .milliseconds(69_998))
    expect(deadline.secondsLeft(BootTime(clock)), equals: 1)
    clock.advance(by: .milliseconds(1))
    expect(deadline.secondsLeft(BootTime(clock)), equals: 0)
    let last = try Deadline(seconds: .max, clock: clock)
    #expect(last.milliseconds == .max && last.secondsLeft(BootTime(clock)) > 1 << 40)
    clock.reboot()
    expect(last.secondsLeft(BootTime(clock)), equals: 0)
  }
}
