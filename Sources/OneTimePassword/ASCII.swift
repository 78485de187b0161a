/// Tests and conversions of ASCII bytes for the parsers of this module.
enum ASCII {
  static func uppercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte - 0x20 : byte
  }

  static func equalIgnoringCase(_ bytes: [UInt8], to word: StaticString) -> Bool {
    String(describing: word).utf8.elementsEqual(bytes, by: { uppercased($0) == uppercased($1) })
  }

  /// A number written in decimal digits and nothing else, if it fits 64 bits.
  static func decimal(_ bytes: some Sequence<UInt8>) -> UInt64? {
    var result: UInt64?
    for byte in bytes {
      let digit = byte &- UInt8(ascii: "0")
      guard digit < 10 else { return nil }
      let (tenfold, overflow) = (result ?? 0).multipliedReportingOverflow(by: 10)
      let (sum, carry) = tenfold.addingReportingOverflow(UInt64(digit))
      if overflow || carry { return nil }
      result = sum
    }
    return result
  }

  static func hexDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}

extension RawSpan {
  /// One byte, checked against the bounds; reading a `UInt8` from initialized memory is always valid.
  func byte(at offset: Int) -> UInt8 {
    unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }
}

extension RawSpan {
  func firstIndex(of wanted: UInt8, in range: Range<Int>) -> Int? {
    range.first { byte(at: $0) == wanted }
  }

  /// Whether a word is at this place, in any case. There must be as many bytes.
  func isEqualIgnoringCase(to word: String, at start: Int) -> Bool {
    zip(start..., word.utf8).allSatisfy { ASCII.uppercased(byte(at: $0)) == ASCII.uppercased($1) }
  }
}
