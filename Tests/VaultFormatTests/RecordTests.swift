import TestSupport
import Testing
import VaultFormat

@Suite("Records", .bounded)
struct RecordTests {
  @Test("fields are written in ascending number, each with number and length")
  func layout() {
    var record = Record()
    record.set(258, bytes: [9])
    record.set(1, u16: 0x0102)
    record.set(3, bytes: [])
    expect(record.encoded, equals: [0, 1, 0, 0, 0, 2, 1, 2, 0, 3, 0, 0, 0, 0, 1, 2, 0, 0, 0, 1, 9])
  }

  @Test("a field set again is replaced, one set to nil is gone, an absent one differs from an empty one")
  func replacing() {
    var record = Record()
    record[5] = [1]
    record[5] = [2, 3]
    expect(record[5], equals: [2, 3])
    record[5] = nil
    #expect(record.isEmpty)
    record[6] = []
    expect(record[6], equals: [])
    #expect(record[5] == nil)
    expect(record.numbers, equals: [6])
  }

  @Test("fields set, replaced and removed in any order give the record of the same fields in ascending order")
  func anyOrder() throws {
    var generator = SeededGenerator(seed: 0xF1E1D)
    for _ in 0..<2_000 {
      var record = Record()
      var fields: [UInt16: [UInt8]] = [:]
      for _ in 0..<12 {
        let number = UInt16(generator.next() % 6)
        let value = generator.next() % 4 == 0 ? nil : generator.bytes(Int(generator.next() % 5))
        record[number] = value
        fields[number] = value
      }
      var ascending = Record()
      for number in fields.keys.sorted() { ascending[number] = fields[number] }
      expect(record, equals: ascending)
      #expect(record == (try Record(decoding: record.encoded)))
      expect(record.numbers, equals: fields.keys.sorted())
      for number in UInt16(0)..<6 { expect(record[number], equals: fields[number]) }
    }
  }

  @Test("every type comes back as it was set, at the ends of its range")
  func types() throws {
    var inner = Record()
    inner.set(9, string: "é")
    var record = Record()
    record.set(1, u8: .max)
    record.set(2, u16: .max)
    record.set(3, u32: .max)
    record.set(4, u64: .max)
    record.set(5, i64: .min)
    record.set(6, string: "Zoë 👩‍🔬")
    record.set(7, record: inner)
    record.set(0, u32: 0)
    record.set(65_535, bytes: [7, 7])
    let read = try Record(decoding: record.encoded)
    expect(read, equals: record)
    try expect(read.u8(1), equals: .max)
    try expect(read.u16(2), equals: .max)
    try expect(read.u32(3), equals: .max)
    try expect(read.u64(4), equals: .max)
    try expect(read.i64(5), equals: .min)
    try expect(read.string(6), equals: "Zoë 👩‍🔬")
    try expect(read.record(7).string(9), equals: "é")
    try expect(read.u32(0), equals: 0)
    try expect(read.bytes(65_535, count: 2), equals: [7, 7])
  }

  @Test("a field of another length than its type is malformed, an absent one is missing or nil")
  func wrongLength() throws {
    var record = Record()
    record[1] = [1, 2, 3]
    record[2] = [0xC3, 0x28]
    #expect(throws: RecordError.malformed(1)) { try record.u8(1) }
    #expect(throws: RecordError.malformed(1)) { try record.u16(1) }
    #expect(throws: RecordError.malformed(1)) { try record.u32(1) }
    #expect(throws: RecordError.malformed(1)) { try record.u64(1) }
    #expect(throws: RecordError.malformed(1)) { try record.i64IfPresent(1) }
    #expect(throws: RecordError.malformed(1)) { try record.bytes(1, count: 4) }
    #expect(throws: RecordError.malformed(2)) { try record.string(2) }
    #expect(throws: RecordError.malformed(1)) { try record.record(1) }
    #expect(throws: RecordError.missing(3)) { try record.u32(3) }
    #expect(throws: RecordError.missing(3)) { try record.bytes(3) }
    #expect(try record.u32IfPresent(3) == nil)
    #expect(try record.stringIfPresent(3) == nil)
    #expect(try record.recordIfPresent(3) == nil)
  }

  @Test(
    "what is no record is refused",
    arguments: [
      ([0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0], RecordError.notAscending),  // twice
      ([0, 2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0], .notAscending),
      ([0, 1, 0, 0, 0, 0, 0], .truncated),  // a byte after the last field
      ([0, 1, 0, 0, 0], .truncated),
      ([0, 1, 0, 0, 0, 2, 1], .truncated),
      ([0, 1, 0xFF, 0xFF, 0xFF, 0xFF, 1], .truncated),
    ] as [([UInt8], RecordError)])
  func refused(bytes: [UInt8], error: RecordError) {
    #expect(throws: error) { try Record(decoding: bytes) }
  }

  @Test("a list is numbered from 1 without a gap")
  func lists() throws {
    let values: [[UInt8]] = [[1], [], [2, 3]]
    try expect(Record(decoding: Record.list(values).encoded).list(), equals: values)
    try expect(Record(decoding: []).list(), equals: [])
    var gap = Record.list(values)
    gap[2] = nil
    #expect(throws: RecordError.notAList) { try gap.list() }
    var zero = Record()
    zero[0] = []
    #expect(throws: RecordError.notAList) { try zero.list() }
  }

  @Test("a slice of a larger message decodes, and an unknown field is kept")
  func slice() throws {
    var record = Record()
    record.set(77, bytes: [1, 2, 3])
    let message = [9, 9] + record.encoded + [9]
    let read = try Record(decoding: Array(message[2..<message.count - 1]))
    expect(read, equals: record)
  }

  /// After an odd tag comes one byte, after an even one any number.
  private static let byteCounts = (1...200).map { $0 % 2 == 0 ? -1 : 1 }

  // Fails when a check accepts a value that is empty, one byte beyond the end, or a number that comes again.
  @Test("read where it lies, a record says what a decoded one says, and what is none is refused")
  func inPlace() {
    var generator = SeededGenerator(seed: 0x91A5E)
    var accepted = 0
    for _ in 0..<50_000 {
      let bytes = Self.almostRecord(&generator, below: 4)
      let message = [9] + bytes + [9]
      let record = try? Record(decoding: bytes)
      let places = try? unsafe Record.places(of: 1, 2, in: bytes.span.bytes)
      #expect(places.map { Array(bytes[$0.0]) } == (record?[2] == nil ? nil : record?[1]))
      #expect(places.map { Array(bytes[$0.1]) } == (record?[1] == nil ? nil : record?[2]))
      let isChecked = (try? unsafe Record.check(bytes.span.bytes, byteCountsByTag: Self.byteCounts)) != nil
      let values = record?.numbers.compactMap { record?[$0] }
      #expect(
        isChecked
          == values?.allSatisfy { value in
            guard let tag = value.first, 1...200 ~= tag else { return false }
            return tag % 2 == 0 || value.count == 2
          } ?? false)
      guard let record else { continue }
      accepted += 1
      let view = RecordView(checked: message[1..<message.count - 1])
      #expect(view.record == record && view == RecordView(record) && view.numbers == record.numbers)
      for number in UInt16(0)..<8 { expect(view[number].map { Array($0) }, equals: record[number]) }
    }
    #expect(accepted > 1_000)
  }

  @Test("100,000 random inputs: none crashes, and what decodes encodes to the same bytes")
  func randomInputs() {
    var generator = SeededGenerator(seed: 0x5EED)
    var accepted = 0
    for round in 0..<100_000 {
      let bytes = round % 2 == 0 ? Self.almostRecord(&generator) : generator.bytes(Int(generator.next() % 40))
      guard let record = try? Record(decoding: bytes) else { continue }
      accepted += 1
      if record.encoded != bytes { Issue.record("not the same bytes: \(bytes)") }
      _ = try? record.list()
      for number in record.numbers {
        _ = try? record.string(number)
        _ = try? record.u32(number)
      }
    }
    #expect(accepted > 10_000 && accepted < 100_000)
  }

  /// A record of which every other one has a byte changed, inserted or removed.
  private static func almostRecord(_ generator: inout SeededGenerator, below most: UInt64 = 300) -> [UInt8] {
    var record = Record()
    for _ in 0..<generator.next() % 5 {
      record[UInt16(truncatingIfNeeded: generator.next() % most)] = generator.bytes(Int(generator.next() % 9))
    }
    var bytes = record.encoded
    guard !bytes.isEmpty, generator.next() % 2 == 0 else { return bytes }
    let index = Int(generator.next() % UInt64(bytes.count))
    switch generator.next() % 3 {
    case 0: bytes[index] ^= 1 << UInt8(generator.next() % 8)
    case 1: bytes.insert(UInt8(truncatingIfNeeded: generator.next()), at: index)
    default: bytes.remove(at: index)
    }
    return bytes
  }
}
