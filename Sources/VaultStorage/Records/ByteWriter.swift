/// Writes values one after the other, big endian, into memory of its caller.
@unsafe
struct ByteWriter {
  private let buffer: UnsafeMutableBufferPointer<UInt8>
  private(set) var count = 0

  init(_ buffer: UnsafeMutableBufferPointer<UInt8>) { unsafe self.buffer = unsafe buffer }

  mutating func append(_ value: some FixedWidthInteger) {
    for shift in stride(from: value.bitWidth - 8, through: 0, by: -8) {
      unsafe buffer[count] = UInt8(truncatingIfNeeded: value >> shift)
      unsafe count += 1
    }
  }

  mutating func append(_ bytes: [UInt8]) {
    _ = unsafe UnsafeMutableBufferPointer(rebasing: buffer[count..<count + bytes.count]).update(from: bytes)
    unsafe count += bytes.count
  }
}

/// A fixed number of bytes with values at fixed offsets, big endian: item and vault state, head row.
package struct ByteLayout: Sendable, Equatable {
  package private(set) var bytes: [UInt8]

  /// All zero.
  package init(byteCount: Int) { bytes = [UInt8](repeating: 0, count: byteCount) }

  /// Nil when `bytes` has another length.
  package init?(_ bytes: [UInt8], byteCount: Int) {
    guard bytes.count == byteCount else { return nil }
    self.bytes = bytes
  }

  /// The integer at `offset`.
  ///
  /// - Precondition: It lies within the layout.
  package func integer<I: FixedWidthInteger>(at offset: Int, as type: I.Type = I.self) -> I {
    var value: I = 0
    for index in offset..<offset + I.bitWidth / 8 { value = value << 8 | I(truncatingIfNeeded: bytes[index]) }
    return value
  }

  package mutating func set(_ value: some FixedWidthInteger, at offset: Int) {
    for index in 0..<value.bitWidth / 8 {
      bytes[offset + index] = UInt8(truncatingIfNeeded: value >> (value.bitWidth - 8 - 8 * index))
    }
  }

  package func bytes(at offset: Int, count: Int) -> [UInt8] { Array(bytes[offset..<offset + count]) }

  package mutating func set(_ value: [UInt8], at offset: Int) {
    for (index, byte) in value.enumerated() { bytes[offset + index] = byte }
  }
}
