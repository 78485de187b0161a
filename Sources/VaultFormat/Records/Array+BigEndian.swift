extension [UInt8] {
  /// The big-endian integer at a fixed offset of a layout.
  package func bigEndian<Word: FixedWidthInteger & UnsignedInteger>(at offset: Int) -> Word {
    self[offset..<offset + Word.bitWidth / 8].reduce(0) { $0 << 8 | Word($1) }
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
