/// A record within shared bytes. It is checked when it is made, so that reading it cannot fail.
package struct RecordView: Sendable, Equatable {
  package let encoded: ArraySlice<UInt8>

  /// The view of a separate record.
  package init(_ record: Record = Record()) { encoded = record.encoded[...] }

  /// - Precondition: `encoded` is the encoding of a record; a ``FieldCursor`` has walked over it.
  package init(checked encoded: ArraySlice<UInt8>) { self.encoded = encoded }

  /// A separate record with the same fields.
  package var record: Record {
    guard let record = try? Record(decoding: Array(encoded)) else {
      preconditionFailure("RecordView.record: the bytes are no record")
    }
    return record
  }

  /// The bytes of a field without a copy; nil when there is none.
  package subscript(number: UInt16) -> ArraySlice<UInt8>? { value(number).map { encoded[$0] } }

  /// The place of a field's value in ``encoded``; nil when there is no such field.
  func value(_ number: UInt16) -> Range<Int>? {
    let bytes = unsafe encoded.span.bytes
    var cursor = FieldCursor()
    while let field = try? cursor.next(in: bytes), field.number <= number {
      guard field.number == number else { continue }
      let start = encoded.startIndex
      return start + field.value.lowerBound..<start + field.value.upperBound
    }
    return nil
  }

  /// The numbers of all fields, ascending.
  package var numbers: [UInt16] {
    var numbers: [UInt16] = []
    var cursor = FieldCursor()
    while let field = try? unsafe cursor.next(in: encoded.span.bytes) { numbers.append(field.number) }
    return numbers
  }
}
