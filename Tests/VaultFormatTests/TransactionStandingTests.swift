import TestSupport
import Testing
import VaultExpectations
import VaultFormat
import VaultStorage

@Suite("Standing of transactions")
struct TransactionStandingTests {
  private let boot = [UInt8](1...16)

  /// The bytes of the page, section 6.
  @Test("state, deadline and boot have their places, and are read again")
  func layout() throws {
    let deadline = Deadline(milliseconds: 0x0102_0304_0506_0708, boot: Bytes16(boot))
    for (number, state) in TransactionState.allCases.enumerated() {
      let standing = TransactionStanding(state, until: deadline)
      expect(standing.attributeBytes, equals: [UInt8(number), 1, 2, 3, 4, 5, 6, 7, 8] + boot)
      let read = try #require(TransactionStanding(attributeBytes: standing.attributeBytes))
      #expect(read == standing && read.state == state && read.deadline == deadline)
    }
    expect(TransactionState.allCases, equals: [.pending, .accepted, .rejected, .cancelled, .timeout])
  }

  /// Verified to fail when a longer value is read as far as it is known.
  @Test("another length is nothing, and a state of a later version keeps its deadline")
  func unknown() throws {
    let bytes = TransactionStanding(.pending, until: Deadline(milliseconds: 9, boot: Bytes16(boot)))
      .attributeBytes
    for other in [[], [UInt8](bytes.dropLast()), bytes + [0]] {
      #expect(TransactionStanding(attributeBytes: other) == nil)
    }
    let later = try #require(TransactionStanding(attributeBytes: [5] + bytes.dropFirst()))
    #expect(later.state == nil && later.deadline.milliseconds == 9 && later.attributeBytes.first == 5)
    var attributes = Attributes()
    attributes[Attribute<String>(code: 92)] = String(repeating: "x", count: 25)
    #expect(attributes[.standing] == nil)
  }
}
