package import SecretMemory

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

  /// Passes over a value that nothing depends on, up to the comma or the bracket behind it. Its texts are not decoded, an object in it
  /// may have a member twice, and it may nest as deep as it likes.
  package func passOver() throws(TextError) {
    var scan = RawValue()
    try skipSpace()
    while try scan.next(bytes) != nil {}
  }

  /// The bytes of a value as they are, for a reader of their own: a fault in them is none of what is around them.
  ///
  /// - Parameter limit: The most bytes.
  package func raw(limit: Int) throws(TextError) -> SecretBytes {
    var scan = RawValue()
    try skipSpace()
    return try gather(limit: limit) { () throws(TextError) in try scan.next(bytes) }
  }

  /// A number.
  ///
  /// - Parameter allowsZeroFraction: Whether `3600.0` is 3600.
  /// - Returns: `nil` for one that is below zero, above 2^64 − 1, or written with another fraction or an exponent.
  package func number(allowsZeroFraction: Bool = false) throws(TextError) -> UInt64? {
    let isNegative = try accept("-")
    let whole = try digits()
    guard whole.count == 1 || whole.first != 0 else { throw .malformed("a number begins with a zero") }
    var isWhole = true
    if try acceptNext([UInt8(ascii: ".")]) {
      let fraction = try digits()
      isWhole = allowsZeroFraction && fraction.value == 0
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

/// Where a value ends, by its brackets and quotation marks alone.
private struct RawValue {
  /// The brackets that are still to come, the last one first.
  private var closing: [UInt8] = []
  private var isInText = false
  private var isEscaped = false
  private var isEmpty = true

  /// The next byte of the value; `nil` behind its end.
  mutating func next(_ bytes: ByteReader) throws(TextError) -> UInt8? {
    guard let byte = try bytes.peek(), isInText || !closing.isEmpty || !Self.isBetween(byte) else {
      guard !isEmpty, !isInText, closing.isEmpty else { throw .malformed("a value is missing") }
      return nil
    }
    isEmpty = false
    if isInText { goOn(inText: byte) } else { try goOn(with: byte) }
    return try bytes.next()
  }

  private mutating func goOn(inText byte: UInt8) {
    if isEscaped { return isEscaped = false }
    isEscaped = byte == UInt8(ascii: "\\")
    isInText = byte != UInt8(ascii: "\"")
  }

  private mutating func goOn(with byte: UInt8) throws(TextError) {
    switch byte {
    case UInt8(ascii: "\""): isInText = true
    case UInt8(ascii: "{"): closing.append(UInt8(ascii: "}"))
    case UInt8(ascii: "["): closing.append(UInt8(ascii: "]"))
    case UInt8(ascii: "}"), UInt8(ascii: "]"):
      guard closing.popLast() == byte else { throw .malformed("its brackets do not match") }
    default: break
    }
  }

  /// White space, and what separates values.
  private static func isBetween(_ byte: UInt8) -> Bool {
    byte <= 0x20 || [UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}")].contains(byte)
  }
}
