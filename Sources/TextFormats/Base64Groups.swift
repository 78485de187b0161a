/// The groups of bytes that characters of base64 stand for. All that decodes base64 here uses it.
///
/// It is strict: no other characters, no missing or further padding, nothing after the padding, unused bits zero (RFC 4648 §3.5).
struct Base64Groups {
  /// One to three bytes, in the upper part of 24 bits.
  struct Group {
    fileprivate let bits: UInt32
    let count: Int

    subscript(index: Int) -> UInt8 { UInt8(truncatingIfNeeded: bits >> (16 - 8 * UInt32(index))) }
  }

  private let form: Base64.Form
  private var bits: UInt32 = 0
  private var count = 0
  private var padding = 0

  init(_ form: Base64.Form) { self.form = form }

  /// Takes the next character.
  ///
  /// - Returns: The group that it completes.
  mutating func next(_ character: UInt8) throws(TextError) -> Group? {
    if form == .padded, character == UInt8(ascii: "="), count >= 2 {
      padding += 1
      bits <<= 6
    } else {
      guard padding == 0, let digit = form.value(of: character) else { throw malformed }
      bits = bits << 6 | UInt32(digit)
    }
    count += 1
    return count == 4 ? try group(without: padding) : nil
  }

  /// Ends the text.
  ///
  /// - Returns: The last group, where it is shorter and not padded.
  mutating func end() throws(TextError) -> Group? {
    guard count > 0 else { return nil }
    guard form == .url, count > 1 else { throw malformed }
    let missing = 4 - count
    bits <<= 6 * UInt32(missing)
    return try group(without: missing)
  }

  private mutating func group(without missing: Int) throws(TextError) -> Group {
    guard bits & (1 << (8 * UInt32(missing)) - 1) == 0 else { throw malformed }
    defer { (bits, count) = (0, 0) }
    return Group(bits: bits, count: 3 - missing)
  }

  private var malformed: TextError { .malformed("the text is not base64") }
}
