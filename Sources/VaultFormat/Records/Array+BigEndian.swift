extension [UInt8] {
  /// The big-endian integer at a fixed offset of a layout.
  package func bigEndian<Word: FixedWidthInteger & UnsignedInteger>(at offset: Int) -> Word {
    var value: Word = 0
    for byte in self[offset..<offset + Word.bitWidth / 8] { value = value << 8 | Word(byte) }
    return value
  }

  /// Writes a big-endian integer at a fixed offset of a layout.
  package mutating func setBigEndian<Word: FixedWidthInteger & UnsignedInteger>(_ value: Word, at offset: Int)
  {
    let count = Word.bitWidth / 8
    for index in 0..<count {
      self[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - index)))
    }
  }
}
