/// The characters of UTF-8 (RFC 3629) in bytes that may be secret, one after the other.
package struct UTF8Characters {
  /// Where the next character begins.
  private(set) var offset = 0
  /// The bytes were no UTF-8 from the last character on.
  package private(set) var isMalformed = false

  package init() {}

  /// The next character; `nil` at the end, and where the bytes are no UTF-8.
  package mutating func next(in bytes: RawSpan) -> UInt32? {
    guard offset < bytes.byteCount else { return nil }
    let lead = bytes.byte(at: offset)
    guard let (count, first) = Self.shape(of: lead), offset + count <= bytes.byteCount else {
      isMalformed = true
      return nil
    }
    var character = first
    for index in 1..<max(count, 1) {
      let byte = bytes.byte(at: offset + index)
      if byte & 0xC0 != 0x80 { isMalformed = true }
      character = character << 6 | UInt32(byte & 0x3F)
    }
    // No overlong form, no surrogate, nothing beyond Unicode.
    if character < Self.least[count - 1] || 0xD800...0xDFFF ~= character || character > 0x10FFFF {
      isMalformed = true
    }
    guard !isMalformed else { return nil }
    offset += count
    return character
  }

  /// How many bytes a character has, and its bits in the first of them.
  private static func shape(of lead: UInt8) -> (count: Int, bits: UInt32)? {
    switch lead {
    case 0x00...0x7F: (1, UInt32(lead))
    case 0xC0...0xDF: (2, UInt32(lead & 0x1F))
    case 0xE0...0xEF: (3, UInt32(lead & 0x0F))
    case 0xF0...0xF7: (4, UInt32(lead & 0x07))
    default: nil
    }
  }

  private static let least: [UInt32] = [0, 0x80, 0x800, 0x10000]

  /// The space separators of Unicode (category Zs) but the space of ASCII.
  package static func isOtherSpace(_ character: UInt32) -> Bool {
    switch character {
    case 0xA0, 0x1680, 0x2000...0x200A, 0x202F, 0x205F, 0x3000: true
    default: false
    }
  }
}

extension RawSpan {
  func byte(at offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}
