import SecretMemory

/// The parts of JSON (RFC 8259) that a line is made of: one object of texts, lists of texts, whole numbers, true and
/// false.
///
/// White space does not span lines, nothing nests deeper, every length has a limit.
struct JSONReader {
  private let bytes: ByteReader

  init(_ bytes: ByteReader) { self.bytes = bytes }

  static func malformed(_ why: String) -> CommandError {
    .malformed("the line cannot be read: \(why)")
  }

  /// The error of a value. Names its key, unless the error already does: a key is not secret, but its value may be.
  private static func naming(_ key: String, _ error: CommandError) -> CommandError {
    let name = "\"\(printable(key))\""
    guard error.exit == .malformed, !error.message.contains(name) else { return error }
    return .malformed("\(error.message) (in \(name))", hint: error.hint)
  }

  /// Calls `member` for each key; it must read the value.
  func object(_ member: (String) throws(CommandError) -> Void) throws(CommandError) {
    try expect("{")
    if try accept("}") { return }
    repeat {
      let key = try string(limit: 64)
      try expect(":")
      do throws(CommandError) { try member(key) } catch { throw Self.naming(key, error) }
    } while try accept(",")
    try expect("}")
  }

  /// Calls `element` for each element; it must read it.
  func array(_ element: () throws(CommandError) -> Void) throws(CommandError) {
    try expect("[")
    if try accept("]") { return }
    repeat { try element() } while try accept(",")
    try expect("]")
  }

  /// A whole number of at most 18 digits.
  func integer() throws(CommandError) -> Int64 {
    let sign: Int64 = try accept("-") ? -1 : 1
    var value: Int64?
    var count = 0
    while let byte = try bytes.peek(), (0x30...0x39).contains(byte) {
      guard value != 0, count < 18 else {
        throw Self.malformed("a number has a zero in front, or is too long")
      }
      value = (value ?? 0) * 10 + Int64(byte - 0x30)
      count += 1
      _ = try bytes.next()
    }
    guard let value else { throw Self.malformed("a whole number is missing") }
    return sign * value
  }

  func boolean() throws(CommandError) -> Bool {
    let isTrue = try accept("t")
    let isKnown = try isTrue ? true : accept("f")
    guard isKnown else { throw Self.malformed("true or false is missing") }
    for character in (isTrue ? "rue" : "alse").utf8 {
      guard try bytes.next() == character else { throw Self.malformed("true or false is missing") }
    }
    return isTrue
  }

  /// Only white space up to the end of the line.
  func endOfLine() throws(CommandError) {
    while let byte = try bytes.peek(), byte != UInt8(ascii: "\n") {
      guard byte == 0x20 || byte == 0x09 || byte == 0x0D else {
        throw Self.malformed("something stands after the object")
      }
      _ = try bytes.next()
    }
  }

  /// A text that is not secret.
  func string(limit: Int) throws(CommandError) -> String {
    var decoder = try textDecoder()
    var text: [UInt8] = []
    while let byte = try decoder.next() {
      guard text.count < limit else { throw Self.malformed("a text is longer than \(limit) bytes") }
      text.append(byte)
    }
    guard let valid = String(validating: text, as: UTF8.self) else {
      throw Self.malformed("a text is not UTF-8")
    }
    return valid
  }

  /// A text's UTF-8 bytes in secret memory.
  func secret(limit: Int) throws(CommandError) -> SecretBytes {
    var decoder = try textDecoder()
    let secret = try gather(limit: limit) { () throws(CommandError) in try decoder.next() }
    guard secret.expose({ UTF8Text.isValid($0) }) else { throw Self.malformed("a text is not UTF-8") }
    return secret
  }

  /// The bytes that a text of base64 stands for, in secret memory.
  func secretFromBase64(limit: Int) throws(CommandError) -> SecretBytes {
    var decoder = Base64Decoder(try textDecoder())
    return try gather(limit: limit) { () throws(CommandError) in try decoder.next() }
  }

  private func textDecoder() throws(CommandError) -> JSONTextDecoder {
    try expect("\"")
    return JSONTextDecoder(bytes)
  }

  /// Takes bytes until there are none, in memory that grows as needed.
  private func gather(
    limit: Int, _ next: () throws(CommandError) -> UInt8?
  ) throws(CommandError) -> SecretBytes {
    var secret = SecretBytes(capacity: 0) { _ in }
    var capacity = 256
    while true {
      var isAtEnd = false
      let larger = try SecretBytes(capacity: capacity) { output throws(CommandError) in
        secret.expose { output.append(copying: $0) }
        while output.freeCapacity > 0, !isAtEnd {
          if let byte = try next() { output.append(byte: byte) } else { isAtEnd = true }
        }
      }
      secret = larger
      if isAtEnd { break }
      guard capacity <= limit else { throw SecretReading.tooLong("secret", limit) }
      capacity = min(limit + 1, capacity * 8)
    }
    guard secret.byteCount <= limit else { throw SecretReading.tooLong("secret", limit) }
    return secret
  }

  private func expect(_ character: Unicode.Scalar) throws(CommandError) {
    guard try accept(character) else { throw Self.malformed("'\(character)' is missing") }
  }

  private func accept(_ character: Unicode.Scalar) throws(CommandError) -> Bool {
    while let byte = try bytes.peek(), byte == 0x20 || byte == 0x09 { _ = try bytes.next() }
    guard let byte = try bytes.peek(), UInt32(byte) == character.value else { return false }
    _ = try bytes.next()
    return true
  }
}
