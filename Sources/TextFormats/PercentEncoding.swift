/// RFC 3986 §2.1: everything but unreserved characters is encoded.
package enum PercentEncoding {
  package static func encode(_ bytes: RawSpan, into output: inout OutputRawSpan) {
    for offset in 0..<bytes.byteCount {
      let byte = unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
      if isUnreserved(byte) {
        output.append(byte: byte)
      } else {
        output.append(byte: UInt8(ascii: "%"))
        output.append(byte: digit(byte >> 4))
        output.append(byte: digit(byte & 15))
      }
    }
  }

  package static func text(of byte: UInt8) -> String {
    let bytes = isUnreserved(byte) ? [byte] : [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The bytes that a text stands for; `nil` where two hexadecimal digits do not follow a `%`.
  package static func decoded(_ text: some Sequence<UInt8>) -> [UInt8]? {
    var (bytes, rest) = ([UInt8](), text.makeIterator())
    while let byte = rest.next() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.next().flatMap(value(ofDigit:)), let low = rest.next().flatMap(value(ofDigit:))
      else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  private static func value(ofDigit digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x41...0x46, 0x61...0x66: (digit & 0xDF) - 0x37
    default: nil
    }
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: byte == 0x2D || byte == 0x2E || byte == 0x5F || byte == 0x7E
    }
  }

  private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }
}
