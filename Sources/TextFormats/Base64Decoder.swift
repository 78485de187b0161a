/// The bytes that a JSON text of base64 stands for: padded, without spaces, unused bits zero (RFC 4648 §3.5).
struct Base64Decoder {
  private var text: JSONTextDecoder
  private var pending: UInt32 = 0
  private var pendingCount = 0
  private var isAtEnd = false

  init(_ text: JSONTextDecoder) { self.text = text }

  mutating func next() throws(TextError) -> UInt8? {
    if pendingCount == 0, !isAtEnd { try group() }
    guard pendingCount > 0 else { return nil }
    pendingCount -= 1
    defer { pending <<= 8 }
    return UInt8(truncatingIfNeeded: pending >> 16)
  }

  /// Reads four characters, one to three bytes.
  private mutating func group() throws(TextError) {
    var value: UInt32 = 0
    var padding = 0
    for index in 0..<4 {
      guard let character = try text.next() else {
        guard index == 0 else { throw malformed }
        isAtEnd = true
        return
      }
      if character == UInt8(ascii: "="), index >= 2 {
        padding += 1
        value <<= 6
      } else {
        guard padding == 0, let digit = Base64.value(of: character) else { throw malformed }
        value = value << 6 | UInt32(digit)
      }
    }
    try accept(value, padding: padding)
  }

  private mutating func accept(_ value: UInt32, padding: Int) throws(TextError) {
    pending = value
    pendingCount = 3 - padding
    guard padding > 0 else { return }
    guard value & (1 << (8 * UInt32(padding)) - 1) == 0, try text.next() == nil else { throw malformed }
    isAtEnd = true
  }

  private var malformed: TextError { .malformed("the text is not base64") }
}
