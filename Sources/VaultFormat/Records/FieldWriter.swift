/// Writes the fields of a record in sequence, for records that are made often and never read here: associated data. See
/// ``Record/encoding(atMost:_:)``.
@safe
package struct FieldWriter {
  private var writer: ByteWriter
  private let room: Int
  private var last = -1

  /// Writes into `memory`, which outlives the writer.
  @unsafe
  package init(_ memory: UnsafeMutableRawBufferPointer) {
    unsafe writer = unsafe ByteWriter(memory)
    room = memory.count
  }

  /// The bytes written.
  package var count: Int { unsafe writer.count }

  @inline(__always)
  package mutating func put(_ number: UInt16, _ value: some FixedWidthInteger) {
    begin(number, value.bitWidth / 8)
    unsafe writer.append(value)
  }

  /// 16 bytes, as two halves in big endian.
  @inline(__always)
  package mutating func put(_ number: UInt16, _ high: UInt64, _ low: UInt64) {
    begin(number, 16)
    unsafe writer.append(high)
    unsafe writer.append(low)
  }

  package mutating func put(_ number: UInt16, _ value: [UInt8]) {
    begin(number, value.count)
    unsafe value.withUnsafeBytes { unsafe writer.append($0) }
  }

  @inline(__always)
  package mutating func put(_ number: UInt16, _ text: StaticString) {
    begin(number, text.utf8CodeUnitCount)
    unsafe writer.append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  @inline(__always)
  private mutating func begin(_ number: UInt16, _ byteCount: Int) {
    precondition(Int(number) > last, "FieldWriter: numbers ascend")
    precondition(byteCount <= room - count - 6, "FieldWriter: more than was said")
    last = Int(number)
    unsafe writer.append(number)
    unsafe writer.append(UInt32(byteCount))
  }
}

extension Record {
  /// The encoding of the record whose fields `write` adds, in one allocation.
  ///
  /// - Precondition: The fields ascend. Together they take at most `byteCount` bytes: 6 for each field, plus its value.
  package static func encoding(atMost byteCount: Int, _ write: (inout FieldWriter) -> Void) -> [UInt8] {
    unsafe withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 1) { memory in
      var fields = unsafe FieldWriter(memory)
      write(&fields)
      return unsafe [UInt8](UnsafeRawBufferPointer(rebasing: memory[..<fields.count]))
    }
  }
}
