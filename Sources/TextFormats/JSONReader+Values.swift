import SecretMemory

/// Values of any type, for input that may have members that the reader does not know.
extension JSONReader {
  /// What the next value is.
  package enum Kind {
    case object, array, text, number
    /// True, false or null.
    case word
  }

  /// What the next value is, by its first character. The value is not read.
  package func kind() throws(TextError) -> Kind {
    try skipSpace()
    switch try bytes.peek() {
    case UInt8(ascii: "{"): return .object
    case UInt8(ascii: "["): return .array
    case UInt8(ascii: "\""): return .text
    case UInt8(ascii: "-")?, (0x30...0x39)?: return .number
    case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"): return .word
    default: throw .malformed("a value is missing")
    }
  }

  /// Reads a value, and forgets it: no text of it is in a `String`. An object in it has no member twice.
  package func skip() throws(TextError) {
    switch try kind() {
    case .object:
      var names: Set<String> = []
      try object { name throws(TextError) in
        guard names.insert(name).inserted else { throw .member(name, "is there twice") }
        try skip()
      }
    case .array: try array { () throws(TextError) in try skip() }
    case .text: _ = try secret(limit: SecretBytes.maximumByteCount - 1)
    case .number: _ = try number()
    case .word: _ = try word()
    }
  }

  /// A number.
  ///
  /// - Returns: `nil` for one that is below zero, above 2^64 − 1, or written with a fraction or an exponent.
  package func number() throws(TextError) -> UInt64? {
    let isNegative = try accept("-")
    let whole = try digits()
    guard whole.count == 1 || whole.first != 0 else { throw .malformed("a number begins with a zero") }
    var isWhole = true
    if try acceptNext([UInt8(ascii: ".")]) {
      isWhole = false
      _ = try digits()
    }
    if try acceptNext([UInt8(ascii: "e"), UInt8(ascii: "E")]) {
      isWhole = false
      _ = try acceptNext([UInt8(ascii: "+"), UInt8(ascii: "-")])
      _ = try digits()
    }
    return isNegative || !isWhole ? nil : whole.value
  }

  /// True or false; `nil` for null.
  package func word() throws(TextError) -> Bool? {
    for (word, value) in [("true", true), ("false", false), ("null", nil)] as [(String, Bool?)]
    where try acceptNext([word.utf8.first!]) {
      for character in word.utf8.dropFirst() {
        guard try acceptNext([character]) else { throw .malformed("a value is missing") }
      }
      return value
    }
    throw .malformed("a value is missing")
  }

  /// The value of decimal digits, or `nil` beyond 2^64 − 1.
  private func digits() throws(TextError) -> (first: UInt8, count: Int, value: UInt64?) {
    var (first, count): (UInt8, Int) = (0, 0)
    var value: UInt64? = 0
    while let byte = try bytes.peek(), (0x30...0x39).contains(byte) {
      let digit = byte - 0x30
      if count == 0 { first = digit }
      let (product, isBeyond) = (value ?? 0).multipliedReportingOverflow(by: 10)
      let (sum, isFurther) = product.addingReportingOverflow(UInt64(digit))
      value = value == nil || isBeyond || isFurther ? nil : sum
      count += 1
      _ = try bytes.next()
    }
    guard count > 0 else { throw .malformed("a digit is missing") }
    return (first, count, value)
  }

  private func acceptNext(_ characters: [UInt8]) throws(TextError) -> Bool {
    guard let byte = try bytes.peek(), characters.contains(byte) else { return false }
    _ = try bytes.next()
    return true
  }
}
