/// Checks whether bytes are UTF-8 (RFC 3629) without making a `String` of them.
package enum UTF8Text {
  package static func isValid(_ bytes: RawSpan) -> Bool {
    var offset = 0
    while offset < bytes.byteCount {
      let lead = byte(of: bytes, at: offset)
      guard let (length, second) = shape(of: lead), offset + length <= bytes.byteCount else { return false }
      if length > 1, !second.contains(byte(of: bytes, at: offset + 1)) { return false }
      for index in stride(from: 2, to: length, by: 1) where byte(of: bytes, at: offset + index) & 0xC0 != 0x80
      {
        return false
      }
      offset += length
    }
    return true
  }

  /// How many bytes follow from the first, and what the second may be: no overlong form, no surrogate.
  private static func shape(of lead: UInt8) -> (length: Int, second: ClosedRange<UInt8>)? {
    switch lead {
    case 0x00...0x7F: (1, 0x80...0xBF)
    case 0xC2...0xDF: (2, 0x80...0xBF)
    case 0xE0: (3, 0xA0...0xBF)
    case 0xED: (3, 0x80...0x9F)
    case 0xE1...0xEF: (3, 0x80...0xBF)
    case 0xF0: (4, 0x90...0xBF)
    case 0xF1...0xF3: (4, 0x80...0xBF)
    case 0xF4: (4, 0x80...0x8F)
    default: nil
    }
  }

  private static func byte(of bytes: RawSpan, at offset: Int) -> UInt8 {
    unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }
}
