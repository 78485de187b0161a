import SecretMemory

extension RawSpan {
  /// A copy in ordinary memory: for public bytes only.
  package var array: [UInt8] { unsafe withUnsafeBytes { unsafe Array($0) } }

  /// The byte at an offset.
  package func byte(at offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }

  /// The big-endian word at a fixed offset of a layout.
  package func word(at offset: Int) -> UInt64 {
    let bytes = extracting(offset..<offset + 8)
    return UInt64(bigEndian: unsafe bytes.unsafeLoadUnaligned(as: UInt64.self))
  }
}

extension OutputRawSpan {
  package mutating func append(bigEndian word: UInt64) { unsafe append(word.bigEndian, as: UInt64.self) }
}

/// Whether public bytes such as MACs are equal, in a time that does not depend on where they differ.
package func isEqualInConstantTime(_ a: [UInt8], _ b: [UInt8]) -> Bool {
  unsafe isEqualInConstantTime(a.span.bytes, b.span.bytes)
}

extension [UInt8] {
  /// The last 16 bytes: the tag of a sealed part.
  package var tag: ArraySlice<UInt8> { suffix(16) }
}
