package import SecretMemory

/// Reads JSON (RFC 8259), value by value, as the caller expects them.
///
/// White space does not span lines unless the caller says so, objects and arrays nest to ``deepest`` levels, and every text has
/// a limit. A value is an object, an array, a text, a whole number, true or false; `JSONReader+Values.swift` reads what a caller
/// does not expect.
package final class JSONReader {
  /// How many objects and arrays may be inside one another.
  package static let deepest = 16

  let bytes: ByteReader
  private let spansLines: Bool
  private let longestName: Int
  private var depth = 0

  /// - Parameters:
  ///   - spansLines: Whether white space between values may have line ends, as in a text that is not one of many lines.
  ///   - longestName: The most bytes of the name of a member.
  package init(_ bytes: ByteReader, spansLines: Bool = false, longestName: Int = 64) {
    self.bytes = bytes
    self.spansLines = spansLines
    self.longestName = longestName
  }

  /// Calls `member` with the name of each member. It must read the value.
  package func object(_ member: (String) throws(TextError) -> Void) throws(TextError) {
    try nested(in: "{", "}") { () throws(TextError) in
      let name = try string(limit: longestName, wanted: "'\"' is missing")
      try expect(":")
      do throws(TextError) { try member(name) } catch { throw error.inside(name) }
    }
  }

  /// Calls `element` for each element. It must read the element.
  package func array(_ element: () throws(TextError) -> Void) throws(TextError) {
    try nested(in: "[", "]", element)
  }

  /// A whole number of at most 18 digits.
  package func integer() throws(TextError) -> Int64 {
    let wanted = "a whole number of at most 18 digits is wanted"
    let sign: Int64 = try accept("-") ? -1 : 1
    var value: Int64?
    var count = 0
    while let byte = try bytes.peek(), (0x30...0x39).contains(byte) {
      guard value != 0, count < 18 else { throw .malformed(wanted) }
      value = (value ?? 0) * 10 + Int64(byte - 0x30)
      count += 1
      _ = try bytes.next()
    }
    guard let value else { throw .malformed(wanted) }
    try expectEnd(wanted)
    return sign * value
  }

  /// Whether a text comes next.
  package func isText() throws(TextError) -> Bool {
    try skipSpace()
    return try bytes.peek() == UInt8(ascii: "\"")
  }

  /// A whole number from 0 to 2^64 − 1.
  package func unsigned() throws(TextError) -> UInt64 {
    let wanted = "a whole number from 0 to \(UInt64.max) is wanted"
    try skipSpace()
    var value: UInt64?
    while let byte = try bytes.peek(), (0x30...0x39).contains(byte) {
      let (product, isBeyond) = (value ?? 0).multipliedReportingOverflow(by: 10)
      let (sum, isFurther) = product.addingReportingOverflow(UInt64(byte - 0x30))
      guard value != 0, !isBeyond, !isFurther else { throw .malformed(wanted) }
      value = sum
      _ = try bytes.next()
    }
    guard let value else { throw .malformed(wanted) }
    try expectEnd(wanted)
    return value
  }

  package func boolean() throws(TextError) -> Bool {
    let wanted = "true or false is wanted"
    let isTrue = try accept("t")
    let isKnown = try isTrue ? true : accept("f")
    guard isKnown else { throw .malformed(wanted) }
    for character in (isTrue ? "rue" : "alse").utf8 {
      guard try bytes.peek() == character else { throw .malformed(wanted) }
      _ = try bytes.next()
    }
    try expectEnd(wanted)
    return isTrue
  }

  /// A text that is not secret.
  ///
  /// - Parameter limit: The most bytes of its UTF-8.
  package func string(limit: Int) throws(TextError) -> String {
    try string(limit: limit, wanted: "a text is wanted")
  }

  private func string(limit: Int, wanted: String) throws(TextError) -> String {
    var decoder = try textDecoder(wanted)
    var text: [UInt8] = []
    while let byte = try decoder.next() {
      guard text.count < limit else { throw .malformed("a text is longer than \(limit) bytes") }
      text.append(byte)
    }
    guard let valid = String(validating: text, as: UTF8.self) else {
      throw .malformed("a text is not UTF-8")
    }
    return valid
  }

  /// The UTF-8 bytes of a text, in secret memory.
  package func secret(limit: Int) throws(TextError) -> SecretBytes {
    var decoder = try textDecoder()
    let secret = try gather(limit: limit) { () throws(TextError) in try decoder.next() }
    guard secret.expose({ UTF8Text.isValid($0) }) else { throw .malformed("a text is not UTF-8") }
    return secret
  }

  /// The bytes that a base64 text encodes, in secret memory.
  package func secretFromBase64(limit: Int) throws(TextError) -> SecretBytes {
    var decoder = Base64Decoder(try textDecoder())
    return try gather(limit: limit) { () throws(TextError) in try decoder.next() }
  }

  /// Skips white space up to the end of the line.
  ///
  /// - Throws: ``TextError`` when anything else is there.
  package func endOfLine() throws(TextError) {
    while let byte = try bytes.peek(), byte != UInt8(ascii: "\n") {
      guard byte == 0x20 || byte == 0x09 || byte == 0x0D else {
        throw .malformed("there is text after the object")
      }
      _ = try bytes.next()
    }
  }

  /// Moves to the first byte of the next line that is not blank.
  ///
  /// - Returns: False at the end of the input.
  package func findLine() throws(TextError) -> Bool {
    while let byte = try bytes.peek() {
      guard byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A else { return true }
      _ = try bytes.next()
    }
    return false
  }

  /// Skips the rest of a malformed line.
  package func skipLine() throws(TextError) {
    depth = 0
    while true {
      // A byte that is refused was passed. What is wrong with the line is told already.
      do throws(TextError) {
        guard let byte = try bytes.next(), byte != UInt8(ascii: "\n") else { return }
      } catch { guard case .malformed = error else { throw error } }
    }
  }

  /// The number of the line of the next byte, from 1.
  package var line: Int { bytes.line }
}

// MARK: Parts of values

extension JSONReader {
  private func nested(
    in opening: Unicode.Scalar, _ closing: Unicode.Scalar, _ element: () throws(TextError) -> Void
  ) throws(TextError) {
    try expect(opening)
    guard depth < Self.deepest else { throw .malformed("values nest deeper than \(Self.deepest) levels") }
    depth += 1
    if try !accept(closing) {
      repeat { try element() } while try accept(",")
      try expect(closing)
    }
    depth -= 1
  }

  private func textDecoder(_ wanted: String = "a text is wanted") throws(TextError) -> JSONTextDecoder {
    guard try accept("\"") else { throw .malformed(wanted) }
    return JSONTextDecoder(bytes)
  }

  /// Reads bytes to the end. The memory grows as needed.
  func gather(
    limit: Int, _ next: () throws(TextError) -> UInt8?
  ) throws(TextError) -> SecretBytes {
    var secret = SecretBytes(capacity: 0) { _ in }
    var capacity = 256
    while true {
      var isAtEnd = false
      let larger = try SecretBytes(capacity: capacity) { output throws(TextError) in
        secret.expose { output.append(copying: $0) }
        while output.freeCapacity > 0, !isAtEnd {
          if let byte = try next() { output.append(byte: byte) } else { isAtEnd = true }
        }
      }
      secret = larger
      if isAtEnd { break }
      guard capacity <= limit else { throw .tooLong(limit: limit) }
      capacity = min(limit + 1, capacity * 8)
    }
    guard secret.byteCount <= limit else { throw .tooLong(limit: limit) }
    return secret
  }

  /// Refuses a number or a word that goes on: the value is wrong, and not what comes after it.
  private func expectEnd(_ wanted: String) throws(TextError) {
    guard let byte = try bytes.peek(), byte > 0x20, ![0x2C, 0x5D, 0x7D].contains(byte) else { return }
    throw .malformed(wanted)
  }

  private func expect(_ character: Unicode.Scalar) throws(TextError) {
    guard try accept(character) else { throw .malformed("'\(character)' is missing") }
  }

  func accept(_ character: Unicode.Scalar) throws(TextError) -> Bool {
    try skipSpace()
    guard let byte = try bytes.peek(), UInt32(byte) == character.value else { return false }
    _ = try bytes.next()
    return true
  }

  func skipSpace() throws(TextError) {
    while let byte = try bytes.peek(),
      byte == 0x20 || byte == 0x09 || spansLines && (byte == 0x0A || byte == 0x0D)
    {
      _ = try bytes.next()
    }
  }
}
