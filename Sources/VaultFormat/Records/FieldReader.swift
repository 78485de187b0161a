/// Reads the fields of a record once, with one error for bytes that are no record and for a field that is missing or
/// malformed.
package struct FieldReader {
  package let record: Record
  private let unreadable: () -> VaultError

  package init(
    _ bytes: [UInt8], or unreadable: @escaping @autoclosure () -> VaultError
  ) throws(VaultError) {
    do throws(RecordError) { record = try Record(decoding: bytes) } catch { throw unreadable() }
    self.unreadable = unreadable
  }

  package init(_ record: Record, or unreadable: @escaping @autoclosure () -> VaultError) {
    (self.record, self.unreadable) = (record, unreadable)
  }

  /// Accepts what was read, or throws the error of the record.
  package func check(_ isRight: Bool) throws(VaultError) { if !isRight { throw unreadable() } }

  /// A value that was read; `nil` is an error of the record.
  package func required<Value>(_ value: Value?) throws(VaultError) -> Value {
    guard let value else { throw unreadable() }
    return value
  }

  package func u8(_ number: UInt16) throws(VaultError) -> UInt8 { try required(u8IfPresent(number)) }
  package func u16(_ number: UInt16) throws(VaultError) -> UInt16 {
    do throws(RecordError) { return try record.u16(number) } catch { throw unreadable() }
  }
  package func u32(_ number: UInt16) throws(VaultError) -> UInt32 { try required(u32IfPresent(number)) }
  package func u64(_ number: UInt16) throws(VaultError) -> UInt64 {
    do throws(RecordError) { return try record.u64(number) } catch { throw unreadable() }
  }
  package func i64(_ number: UInt16) throws(VaultError) -> Int64 {
    do throws(RecordError) { return try record.i64(number) } catch { throw unreadable() }
  }
  package func bytes(_ number: UInt16) throws(VaultError) -> [UInt8] { try required(record[number]) }
  package func bytes(_ number: UInt16, count: Int) throws(VaultError) -> [UInt8] {
    try required(bytesIfPresent(number, count: count))
  }
  package func string(_ number: UInt16) throws(VaultError) -> String {
    do throws(RecordError) { return try record.string(number) } catch { throw unreadable() }
  }

  package func u8IfPresent(_ number: UInt16) throws(VaultError) -> UInt8? {
    do throws(RecordError) { return try record.u8IfPresent(number) } catch { throw unreadable() }
  }
  package func u32IfPresent(_ number: UInt16) throws(VaultError) -> UInt32? {
    do throws(RecordError) { return try record.u32IfPresent(number) } catch { throw unreadable() }
  }
  package func bytesIfPresent(_ number: UInt16, count: Int) throws(VaultError) -> [UInt8]? {
    do throws(RecordError) { return try record.bytesIfPresent(number, count: count) } catch {
      throw unreadable()
    }
  }

  /// The entries of a packed list (``Record/packedList(_:of:inOrderOfTime:)``) that is not empty; none where the field is
  /// absent.
  package func packedList(
    _ number: UInt16, of byteCount: Int, inOrderOfTime: Bool = false
  ) throws(VaultError) -> [[UInt8]] {
    guard let bytes = record[number] else { return [] }
    try check(!bytes.isEmpty)
    return try required(record.packedList(number, of: byteCount, inOrderOfTime: inOrderOfTime))
  }

  /// The values of a field that is a record with the numbers 1, 2, 3 …
  package func list(_ number: UInt16) throws(VaultError) -> [[UInt8]] {
    let bytes = try bytes(number)
    do throws(RecordError) { return try Record(decoding: bytes).list() } catch { throw unreadable() }
  }
}
