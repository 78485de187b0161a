import VaultCrypto
import VaultStorage

/// A walk over the fields of a record in place. Each field is checked when the walk reaches it; nothing is copied.
package struct FieldCursor {
  private var end = 0
  private var last = -1

  package init() {}

  /// The next field and the range of its value; nil after the last field.
  ///
  /// - Parameter bytes: The record; the same bytes at each call.
  /// - Throws: ``RecordError/truncated``, ``RecordError/notAscending``.
  @inline(__always)
  package mutating func next(in bytes: RawSpan) throws(RecordError) -> (number: UInt16, value: Range<Int>)? {
    let rest = bytes.byteCount - end
    guard rest > 0 else { return nil }
    guard rest >= Record.overhead else { throw .truncated }
    let (number, count) = unsafe bytes.withUnsafeBytes { bytes in
      unsafe (
        UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: end, as: UInt16.self)),
        UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: end + 2, as: UInt32.self))
      )
    }
    guard rest - Record.overhead >= Int(count) else { throw .truncated }
    guard Int(number) > last else { throw .notAscending }
    last = Int(number)
    let start = end + Record.overhead
    end = start + Int(count)
    return (number, start..<end)
  }
}

// One call for a whole record: a walk from another module would make one call per field.
extension Record {
  /// The ranges of the values of two fields in the encoding of a record.
  ///
  /// - Throws: ``RecordError/truncated``, ``RecordError/notAscending``, ``RecordError/missing(_:)``.
  package static func places(
    of first: UInt16, _ second: UInt16, in bytes: RawSpan
  ) throws(RecordError) -> (Range<Int>, Range<Int>) {
    var cursor = FieldCursor()
    var (place, other): (Range<Int>?, Range<Int>?)
    while let (number, value) = try cursor.next(in: bytes) {
      if number == first { place = value } else if number == second { other = value }
    }
    guard let place else { throw .missing(first) }
    guard let other else { throw .missing(second) }
    return (place, other)
  }

  /// Accepts the encoding of a record whose values all begin with the tag of a type.
  ///
  /// - Parameter byteCounts: For each tag, from 1 on, how many bytes follow it; -1 for any number.
  /// - Throws: ``RecordError/truncated``, ``RecordError/notAscending``, ``RecordError/malformed(_:)``.
  package static func check(_ bytes: RawSpan, byteCountsByTag byteCounts: [Int]) throws(RecordError) {
    var cursor = FieldCursor()
    while let (number, value) = try cursor.next(in: bytes) {
      guard !value.isEmpty else { throw .malformed(number) }
      let tag = Int(unsafe bytes.withUnsafeBytes { unsafe $0[value.lowerBound] })
      guard 1...byteCounts.count ~= tag, byteCounts[tag - 1] < 0 || byteCounts[tag - 1] == value.count - 1
      else {
        throw .malformed(number)
      }
    }
  }
}
