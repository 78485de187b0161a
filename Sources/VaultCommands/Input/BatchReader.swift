import SecretMemory

/// One line of `vaultctl batch`.
package struct BatchLine {
  package var words: [String] = []
  package var input: SecretBox?
}

/// Reads lines like `{"args":["item","add","mail"],"stdin":"…"}`.
///
/// A reader of its own, on bytes and with limits: what may be secret goes into secret memory and nowhere else.
package struct BatchReader {
  private let bytes: ByteReader
  private let json: JSONReader

  package init(descriptor: Int32) {
    bytes = ByteReader(descriptor: descriptor)
    json = JSONReader(bytes)
  }

  /// The next command, or nil at the end. Empty lines are passed over.
  package func next() throws(CommandError) -> BatchLine? {
    while let byte = try bytes.peek() {
      guard isBlank(byte) || byte == UInt8(ascii: "\n") else { return try line() }
      _ = try bytes.next()
    }
    return nil
  }

  /// Leaves the rest of a malformed line behind.
  package func skipLine() throws(CommandError) {
    while let byte = try bytes.next(), byte != UInt8(ascii: "\n") {}
  }

  private func line() throws(CommandError) -> BatchLine {
    do throws(CommandError) { return try command() } catch {
      var error = error
      if error.hint == nil { error.hint = "one line is {\"args\":[\"item\",\"list\"]}" }
      throw error
    }
  }

  private func command() throws(CommandError) -> BatchLine {
    var line = BatchLine()
    var seen: Set<String> = []
    try json.object { key throws(CommandError) in
      guard seen.insert(key).inserted else {
        throw JSONReader.malformed("\"\(printable(key))\" is given twice")
      }
      try value(of: key, into: &line)
    }
    guard seen.contains("args") else { throw JSONReader.malformed("\"args\" is missing") }
    guard !(seen.contains("stdin") && seen.contains("stdinBase64")) else {
      throw JSONReader.malformed("\"stdin\" and \"stdinBase64\" exclude each other")
    }
    try json.endOfLine()
    return line
  }

  private func value(of key: String, into line: inout BatchLine) throws(CommandError) {
    switch key {
    case "args":
      try json.array { () throws(CommandError) in
        guard line.words.count < Self.mostWords else { throw JSONReader.malformed("too many words") }
        line.words.append(try json.string(limit: Self.longestWord))
      }
    case "stdin": line.input = SecretBox(try json.secret(limit: SecretReading.longestSecret))
    case "stdinBase64": line.input = SecretBox(try json.secretFromBase64(limit: SecretReading.longestSecret))
    default: throw JSONReader.malformed("\"\(printable(key))\" is none of args, stdin, stdinBase64")
    }
  }

  private func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }

  private static let mostWords = 64
  private static let longestWord = 8 << 10
}
