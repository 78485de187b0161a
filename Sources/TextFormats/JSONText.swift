/// The escapes of RFC 8259 §7 over UTF-8 bytes. DEL and each hidden character of Unicode is escaped too: a text of somebody else cannot
/// steer a terminal, nor hide or reorder what is around it, and a reader of JSON gets the same text.
enum JSONText {
  /// How many bytes of input one call of ``escape(_:into:)`` is given at most.
  static let groupByteCount = 512

  /// Appends at most six bytes for each byte. The bytes begin and end with a character; what is not UTF-8 stays as it is.
  static func escape(_ bytes: RawSpan, into output: inout OutputRawSpan) {
    escape(bytes, quoting: true) { output.append(byte: $0) }
  }

  /// The same for a text that is JSON itself, whose quotes and escapes stay: only what is not ASCII can be a hidden character there.
  static func escapeHidden(_ bytes: RawSpan, into output: inout OutputRawSpan) {
    escape(bytes, quoting: false) { output.append(byte: $0) }
  }

  /// - Parameter quoting: Whether characters of ASCII are escaped.
  static func escape(_ bytes: RawSpan, quoting: Bool, _ put: (UInt8) -> Void) {
    var offset = 0
    while offset < bytes.byteCount {
      let byte = unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
      if byte < 0x80 {
        if quoting { escape(byte, put) } else { put(byte) }
        offset += 1
      } else if let (scalar, count) = scalar(of: bytes, at: offset), scalar.isHidden {
        for unit in UTF16.encode(scalar)! { escape(unit, put) }
        offset += count
      } else {
        put(byte)
        offset += 1
      }
    }
  }

  /// The end of the largest group of bytes that ends with a whole character.
  static func end(ofGroupIn bytes: RawSpan, from start: Int) -> Int {
    let end = min(start + groupByteCount, bytes.byteCount)
    guard end < bytes.byteCount else { return end }
    // A character has four bytes at most, and each but the first is 10xxxxxx.
    for candidate in stride(from: end, to: end - 4, by: -1)
    where unsafe bytes.unsafeLoad(fromByteOffset: candidate, as: UInt8.self) & 0xC0 != 0x80 {
      return candidate
    }
    return end
  }

  /// The character of more than one byte that begins there, and the number of its bytes.
  private static func scalar(of bytes: RawSpan, at offset: Int) -> (Unicode.Scalar, Int)? {
    let first = unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    let count = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
    guard first >= 0xC2, offset + count <= bytes.byteCount else { return nil }
    var value = UInt32(first) & (0x7F >> UInt32(count))
    for index in 1..<count {
      let byte = unsafe bytes.unsafeLoad(fromByteOffset: offset + index, as: UInt8.self)
      guard byte & 0xC0 == 0x80 else { return nil }
      value = value << 6 | UInt32(byte & 0x3F)
    }
    return Unicode.Scalar(value).map { ($0, count) }
  }

  private static func escape(_ byte: UInt8, _ put: (UInt8) -> Void) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"):
      put(UInt8(ascii: "\\"))
      put(byte)
    case 0x0A: put(UInt8(ascii: "\\")); put(UInt8(ascii: "n"))
    case 0x0D: put(UInt8(ascii: "\\")); put(UInt8(ascii: "r"))
    case 0x09: put(UInt8(ascii: "\\")); put(UInt8(ascii: "t"))
    case 0x00...0x1F, 0x7F: escape(UInt16(byte), put)
    default: put(byte)
    }
  }

  private static func escape(_ unit: UInt16, _ put: (UInt8) -> Void) {
    put(UInt8(ascii: "\\"))
    put(UInt8(ascii: "u"))
    for shift in [12, 8, 4, 0] as [UInt16] { put(hex(UInt8(unit >> shift & 15))) }
  }

  private static func hex(_ digit: UInt8) -> UInt8 { digit < 10 ? 0x30 + digit : 0x57 + digit }
}
