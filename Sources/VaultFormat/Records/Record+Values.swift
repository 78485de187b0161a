/// Fields by type. A `set` with nil removes the field; a `get` throws ``RecordError/missing(_:)`` for an absent field,
/// and ``RecordError/malformed(_:)`` for a field of another type. The `…IfPresent` calls return nil for an absent
/// field.
extension Record {
  // MARK: - Setting

  package mutating func set(_ number: UInt16, u8 value: UInt8?) { set(number, integer: value) }
  package mutating func set(_ number: UInt16, u16 value: UInt16?) { set(number, integer: value) }
  package mutating func set(_ number: UInt16, u32 value: UInt32?) { set(number, integer: value) }
  package mutating func set(_ number: UInt16, u64 value: UInt64?) { set(number, integer: value) }
  package mutating func set(_ number: UInt16, i64 value: Int64?) { set(number, integer: value) }
  package mutating func set(_ number: UInt16, bytes value: [UInt8]?) { self[number] = value }
  package mutating func set(_ number: UInt16, string value: String?) {
    self[number] = value.map { Array($0.utf8) }
  }
  package mutating func set(_ number: UInt16, record value: Record?) { self[number] = value?.encoded }

  // MARK: - Getting

  package func u8(_ number: UInt16) throws(RecordError) -> UInt8 { try integer(number) }
  package func u16(_ number: UInt16) throws(RecordError) -> UInt16 { try integer(number) }
  package func u32(_ number: UInt16) throws(RecordError) -> UInt32 { try integer(number) }
  package func u64(_ number: UInt16) throws(RecordError) -> UInt64 { try integer(number) }
  package func i64(_ number: UInt16) throws(RecordError) -> Int64 { try integer(number) }
  package func bytes(_ number: UInt16) throws(RecordError) -> [UInt8] { try present(self[number], number) }
  package func bytes(_ number: UInt16, count: Int) throws(RecordError) -> [UInt8] {
    try present(bytesIfPresent(number, count: count), number)
  }
  package func string(_ number: UInt16) throws(RecordError) -> String {
    try present(stringIfPresent(number), number)
  }
  package func record(_ number: UInt16) throws(RecordError) -> Record {
    try present(recordIfPresent(number), number)
  }

  package func u8IfPresent(_ number: UInt16) throws(RecordError) -> UInt8? { try integerIfPresent(number) }
  package func u16IfPresent(_ number: UInt16) throws(RecordError) -> UInt16? { try integerIfPresent(number) }
  package func u32IfPresent(_ number: UInt16) throws(RecordError) -> UInt32? { try integerIfPresent(number) }
  package func u64IfPresent(_ number: UInt16) throws(RecordError) -> UInt64? { try integerIfPresent(number) }
  package func i64IfPresent(_ number: UInt16) throws(RecordError) -> Int64? { try integerIfPresent(number) }

  package func bytesIfPresent(_ number: UInt16, count: Int) throws(RecordError) -> [UInt8]? {
    guard let value = value(number) else { return nil }
    guard value.count == count else { throw .malformed(number) }
    return Array(encoded[value])
  }

  /// Invalid UTF-8 is refused, never repaired.
  package func stringIfPresent(_ number: UInt16) throws(RecordError) -> String? {
    guard let bytes = self[number] else { return nil }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .malformed(number) }
    return text
  }

  package func recordIfPresent(_ number: UInt16) throws(RecordError) -> Record? {
    guard let bytes = self[number] else { return nil }
    do throws(RecordError) { return try Record(decoding: bytes) } catch { throw .malformed(number) }
  }

  // MARK: - Integers

  private mutating func set<I: FixedWidthInteger>(_ number: UInt16, integer value: I?) {
    guard let value else { return self[number] = nil }
    put(number, I.bitWidth / 8) { bytes in
      unsafe withUnsafeBytes(of: value.bigEndian) { unsafe bytes.append(contentsOf: $0) }
    }
  }

  private func integer<I: FixedWidthInteger>(_ number: UInt16) throws(RecordError) -> I {
    try present(integerIfPresent(number), number)
  }

  private func integerIfPresent<I: FixedWidthInteger>(_ number: UInt16) throws(RecordError) -> I? {
    guard let value = value(number) else { return nil }
    guard value.count == I.bitWidth / 8 else { throw .malformed(number) }
    var integer: I = 0
    for index in value { integer = integer << 8 | I(truncatingIfNeeded: encoded[index]) }
    return integer
  }

  private func present<T>(_ value: T?, _ number: UInt16) throws(RecordError) -> T {
    guard let value else { throw .missing(number) }
    return value
  }
}
