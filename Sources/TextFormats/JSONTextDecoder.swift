/// The bytes of one JSON text after its opening quote: escapes resolved, as UTF-8.
struct JSONTextDecoder {
  private let bytes: ByteReader
  /// Up to four bytes of an escaped character, the next one lowest.
  private var pending: UInt32 = 0
  private var pendingCount = 0
  private var isAtEnd = false

  init(_ bytes: ByteReader) { self.bytes = bytes }

  /// The next byte; `nil` after the closing quote.
  mutating func next() throws(TextError) -> UInt8? {
    if pendingCount > 0 { return takePending() }
    if isAtEnd { return nil }
    guard let byte = try bytes.peek(), byte >= 0x20 else {
      throw TextError.malformed("a text does not end, or has an unescaped control character")
    }
    _ = try bytes.next()
    switch byte {
    case UInt8(ascii: "\""):
      isAtEnd = true
      return nil
    case UInt8(ascii: "\\"): return try escaped()
    default: return byte
    }
  }

  private mutating func takePending() -> UInt8 {
    defer {
      pending >>= 8
      pendingCount -= 1
    }
    return UInt8(truncatingIfNeeded: pending)
  }

  private mutating func escaped() throws(TextError) -> UInt8 {
    switch try take() {
    case UInt8(ascii: "\""): return UInt8(ascii: "\"")
    case UInt8(ascii: "\\"): return UInt8(ascii: "\\")
    case UInt8(ascii: "/"): return UInt8(ascii: "/")
    case UInt8(ascii: "b"): return 0x08
    case UInt8(ascii: "f"): return 0x0C
    case UInt8(ascii: "n"): return 0x0A
    case UInt8(ascii: "r"): return 0x0D
    case UInt8(ascii: "t"): return 0x09
    case UInt8(ascii: "u"): return try unicode()
    default: throw TextError.malformed("an unknown escape")
    }
  }

  private mutating func unicode() throws(TextError) -> UInt8 {
    var value = try fourDigits()
    if (0xD800...0xDBFF).contains(value) {
      guard try take() == UInt8(ascii: "\\"), try take() == UInt8(ascii: "u") else {
        throw TextError.malformed("half of a surrogate pair")
      }
      let low = try fourDigits()
      guard (0xDC00...0xDFFF).contains(low) else { throw TextError.malformed("half of a surrogate pair") }
      value = 0x10000 + ((value - 0xD800) << 10) + (low - 0xDC00)
    }
    guard let scalar = Unicode.Scalar(value) else { throw TextError.malformed("half of a surrogate pair") }
    for (index, byte) in scalar.utf8.enumerated() {
      pending |= UInt32(byte) << (8 * UInt32(index))
      pendingCount += 1
    }
    return takePending()
  }

  /// The next byte inside an escape; a newline is left, because it ends the line.
  private func take() throws(TextError) -> UInt8? {
    guard let byte = try bytes.peek(), byte >= 0x20 else { return nil }
    return try bytes.next()
  }

  private func fourDigits() throws(TextError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = try take(), let digit = Self.hexadecimalValue(byte) else {
        throw TextError.malformed("an escape needs four hexadecimal digits")
      }
      value = value << 4 | UInt32(digit)
    }
    return value
  }

  /// The value of a hexadecimal digit, 0 to 15; `nil` for any other character.
  private static func hexadecimalValue(_ character: UInt8) -> UInt8? {
    switch character {
    case 0x30...0x39: character - 0x30
    case 0x41...0x46: character - 0x37
    case 0x61...0x66: character - 0x57
    default: nil
    }
  }
}
