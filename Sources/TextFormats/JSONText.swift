/// The escapes of RFC 8259 §7 over UTF-8 bytes; DEL is escaped too.
enum JSONText {
  /// How many bytes of input one call of ``escape(_:into:)`` is given at most.
  static let groupByteCount = 512

  /// Appends at most six bytes for each byte.
  static func escape(_ bytes: RawSpan, into output: inout OutputRawSpan) {
    for offset in 0..<bytes.byteCount {
      let byte = unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
      escape(byte) { output.append(byte: $0) }
    }
  }

  static func escape(_ byte: UInt8, _ put: (UInt8) -> Void) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"):
      put(UInt8(ascii: "\\"))
      put(byte)
    case 0x0A: put(UInt8(ascii: "\\")); put(UInt8(ascii: "n"))
    case 0x0D: put(UInt8(ascii: "\\")); put(UInt8(ascii: "r"))
    case 0x09: put(UInt8(ascii: "\\")); put(UInt8(ascii: "t"))
    case 0x00...0x1F, 0x7F:
      for character in [UInt8(ascii: "\\"), UInt8(ascii: "u"), 0x30, 0x30, hex(byte >> 4), hex(byte & 15)] {
        put(character)
      }
    default: put(byte)
    }
  }

  private static func hex(_ digit: UInt8) -> UInt8 { digit < 10 ? 0x30 + digit : 0x57 + digit }
}
