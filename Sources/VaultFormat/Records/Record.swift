import Glibc

/// The record of the format (`docs/format/vault-file.md` section 1): fields in strictly ascending number, each
/// `u16 number ‖ u32 length ‖ bytes`. One value has one encoding, and a record holds that encoding: decoding keeps the
/// given bytes, and encoding copies none. Unknown fields are kept.
package struct Record: Sendable, Equatable {
  /// The encoding.
  package private(set) var encoded: [UInt8]
  /// The number of the last field; -1 when there is none. With this number, adding a new last field needs no search.
  private var last = -1

  package init() { encoded = [] }

  /// An empty record with room for an encoding of `byteCount` bytes.
  package init(reserving byteCount: Int) {
    encoded = []
    encoded.reserveCapacity(byteCount)
  }

  /// The record with fields 1, 2, 3 …
  ///
  /// - Precondition: At most 65,535 values.
  package static func list(_ values: [[UInt8]]) -> Record {
    var record = Record(reserving: values.reduce(0) { $0 + overhead + $1.count })
    for (index, value) in values.enumerated() { record[UInt16(index + 1)] = value }
    return record
  }

  /// Accepts exactly what ``encoded`` gives.
  ///
  /// - Throws: ``RecordError/truncated``, ``RecordError/notAscending``.
  package init(decoding bytes: [UInt8]) throws(RecordError) {
    var cursor = FieldCursor()
    while let field = try unsafe cursor.next(in: bytes.span.bytes) { last = Int(field.number) }
    encoded = bytes
  }

  /// The bytes of a field; nil when there is none. An absent field differs from an empty one.
  package subscript(number: UInt16) -> [UInt8]? {
    get { value(number).map { Array(encoded[$0]) } }
    set {
      guard let newValue else { return remove(number) }
      put(number, newValue.count) { $0 += newValue }
    }
  }

  /// Whether this is the encoding.
  package func isEncoded(as bytes: RawSpan) -> Bool {
    guard bytes.byteCount == encoded.count else { return false }
    return unsafe encoded.withUnsafeBytes { own in
      unsafe bytes.withUnsafeBytes { other in
        guard let start = own.baseAddress, let otherStart = other.baseAddress else { return true }
        return unsafe memcmp(start, otherStart, own.count) == 0
      }
    }
  }

  /// The numbers of all fields, ascending.
  package var numbers: [UInt16] {
    var numbers: [UInt16] = []
    forEachField { number, _ in numbers.append(UInt16(number)) }
    return numbers
  }

  package var isEmpty: Bool { encoded.isEmpty }

  /// The values of a record whose fields are numbered 1, 2, 3 … without a gap.
  ///
  /// - Throws: ``RecordError/notAList``.
  package func list() throws(RecordError) -> [[UInt8]] {
    var values: [[UInt8]] = []
    var hasGap = false
    forEachField { number, value in
      hasGap = hasGap || number != values.count + 1
      values.append(Array(encoded[value]))
    }
    guard !hasGap else { throw .notAList }
    return values
  }

  /// The range of a field's value in ``encoded``; nil when there is no such field.
  package func value(_ number: UInt16) -> Range<Int>? {
    let place = place(of: number)
    return place.isEmpty ? nil : place.lowerBound + Self.overhead..<place.upperBound
  }

  /// Writes a field of `count` bytes, which `append` adds to the array that it gets.
  package mutating func put(_ number: UInt16, _ count: Int, _ append: (inout [UInt8]) -> Void) {
    if Int(number) > last {
      Self.append(number, count, to: &encoded)
      append(&encoded)
      last = Int(number)
    } else {
      var field: [UInt8] = []
      Self.append(number, count, to: &field)
      append(&field)
      encoded.replaceSubrange(place(of: number), with: field)
    }
  }

  private mutating func remove(_ number: UInt16) {
    encoded.removeSubrange(place(of: number))
    guard Int(number) == last else { return }
    last = -1
    forEachField { number, _ in last = number }
  }

  /// Bytes before the value of each field.
  package static var overhead: Int { 6 }

  private static func append(_ number: UInt16, _ count: Int, to bytes: inout [UInt8]) {
    let header = UInt64(number) << 48 | UInt64(UInt32(count)) << 16
    unsafe withUnsafeBytes(of: header.bigEndian) { unsafe bytes.append(contentsOf: $0.prefix(overhead)) }
  }

  /// The range of the whole field of this number, including its header. If there is no such field, an empty range at
  /// the place where it belongs.
  private func place(of number: UInt16) -> Range<Int> {
    if Int(number) > last { return encoded.count..<encoded.count }
    var offset = 0
    while true {
      let field = Self.field(at: offset, in: encoded)
      if field.number >= Int(number) {
        return offset..<(field.number == Int(number) ? field.value.upperBound : offset)
      }
      offset = field.value.upperBound
    }
  }

  private func forEachField(_ body: (_ number: Int, _ value: Range<Int>) -> Void) {
    var offset = 0
    while offset < encoded.count {
      let field = Self.field(at: offset, in: encoded)
      body(field.number, field.value)
      offset = field.value.upperBound
    }
  }

  /// The field whose header begins at `offset`; its value may reach beyond the end.
  ///
  /// - Precondition: The header is within `bytes`.
  private static func field(at offset: Int, in bytes: [UInt8]) -> (number: Int, value: Range<Int>) {
    precondition(offset <= bytes.count - overhead, "Record.field: no header there")
    let (number, count) = unsafe bytes.withUnsafeBytes { bytes in
      unsafe (
        UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self)),
        UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset + 2, as: UInt32.self))
      )
    }
    let start = offset + overhead
    return (Int(number), start..<start + Int(count))
  }
}
