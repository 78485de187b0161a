/// The record of the format (`docs/format/vault-file.md` section 1): fields in strictly ascending number, each
/// `u16 number ‖ u32 length ‖ bytes`. One value has one encoding. Unknown fields are kept.
package struct Record: Sendable, Equatable {
  private var fields: [Field]

  private struct Field: Sendable, Equatable {
    var number: UInt16
    var bytes: [UInt8]
  }

  package init() { fields = [] }

  /// The record with fields 1, 2, 3 …
  ///
  /// - Precondition: At most 65,535 values.
  package static func list(_ values: [[UInt8]]) -> Record {
    var record = Record()
    record.fields = values.enumerated().map { Field(number: UInt16($0.offset + 1), bytes: $0.element) }
    return record
  }

  /// Accepts exactly what ``encoded`` makes.
  ///
  /// - Throws: ``RecordError/truncated``, ``RecordError/notAscending``.
  package init(decoding bytes: some Collection<UInt8>) throws(RecordError) {
    if let decoded = bytes.withContiguousStorageIfAvailable({ Self.decode(unsafe $0.span) }) {
      fields = try decoded.get()
    } else {
      fields = try Self.decode(Array(bytes).span).get()
    }
  }

  /// The bytes of a field; nil when there is none. An absent field differs from an empty one.
  package subscript(number: UInt16) -> [UInt8]? {
    get {
      let index = position(of: number)
      return index < fields.count && fields[index].number == number ? fields[index].bytes : nil
    }
    set {
      let index = position(of: number)
      let exists = index < fields.count && fields[index].number == number
      switch (newValue, exists) {
      case (let bytes?, true): fields[index].bytes = bytes
      case (let bytes?, false): fields.insert(Field(number: number, bytes: bytes), at: index)
      case (nil, true): fields.remove(at: index)
      case (nil, false): break
      }
    }
  }

  /// The numbers of all fields, ascending.
  package var numbers: [UInt16] { fields.map(\.number) }

  package var isEmpty: Bool { fields.isEmpty }

  /// The encoding, made with one allocation.
  package var encoded: [UInt8] {
    let count = encodedByteCount
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
      var writer = unsafe ByteWriter(buffer)
      for field in fields {
        unsafe writer.append(field.number)
        unsafe writer.append(UInt32(field.bytes.count))
        unsafe writer.append(field.bytes)
      }
      written = unsafe writer.count
    }
  }

  /// The length of ``encoded``.
  package var encodedByteCount: Int { fields.reduce(0) { $0 + Self.overhead + $1.bytes.count } }

  /// The values of a record whose fields are numbered 1, 2, 3 … without a gap.
  ///
  /// - Throws: ``RecordError/notAList``.
  package func list() throws(RecordError) -> [[UInt8]] {
    for (index, field) in fields.enumerated() where Int(field.number) != index + 1 { throw .notAList }
    return fields.map(\.bytes)
  }

  /// Bytes before the value of each field.
  private static let overhead = 6

  /// The index of the first field whose number is not less than `number`.
  private func position(of number: UInt16) -> Int {
    if let last = fields.last, last.number < number { return fields.count }
    return fields.firstIndex { $0.number >= number } ?? fields.count
  }

  private static func decode(_ bytes: Span<UInt8>) -> Result<[Field], RecordError> {
    var fields: [Field] = []
    var offset = 0
    while offset < bytes.count {
      guard bytes.count - offset >= overhead else { return .failure(.truncated) }
      let number = UInt16(bytes[offset]) << 8 | UInt16(bytes[offset + 1])
      var length = 0
      for index in 2..<overhead { length = length << 8 | Int(bytes[offset + index]) }
      offset += overhead
      guard length <= bytes.count - offset else { return .failure(.truncated) }
      if let last = fields.last, last.number >= number { return .failure(.notAscending) }
      let value = bytes.extracting(offset..<offset + length)
      fields.append(Field(number: number, bytes: unsafe value.withUnsafeBufferPointer { unsafe Array($0) }))
      offset += length
    }
    return .success(fields)
  }
}
