package import CommandLineKit
package import SecretMemory
import TextFormats
import VaultWords

/// One line of `vaultctl vault batch`.
package struct BatchLine {
  package var words: [String] = []
  package var input: SharedSecret?
}

/// Reads lines like `{"args":["add","mail"],"stdin":"…"}`.
///
/// It reads bytes, with limits, so that text that may be secret is stored only in secret memory.
package struct BatchReader {
  private let json: JSONReader

  package init(descriptor: Int32) {
    json = JSONReader(ByteReader(descriptor: descriptor))
  }

  /// The next command, or `nil` at the end. Empty lines are skipped.
  package func next() throws(CommandError) -> BatchLine? {
    do throws(TextError) { return try json.findLine() ? try line() : nil } catch {
      var described = CommandError(error)
      if described.exit == .malformed { described.hint = "one line is {\"args\":[\"ls\"]}" }
      throw described
    }
  }

  /// Skips the rest of a malformed line.
  package func skipLine() throws(CommandError) {
    do throws(TextError) { try json.skipLine() } catch { throw CommandError(error) }
  }

  private func line() throws(TextError) -> BatchLine {
    var line = BatchLine()
    var seen: Set<String> = []
    try json.object { name throws(TextError) in
      guard seen.insert(name).inserted else { throw .member(name, "is given twice") }
      try value(of: name, into: &line)
    }
    guard seen.contains("args") else { throw .member("args", "is missing") }
    guard !(seen.contains("stdin") && seen.contains("stdinBase64")) else {
      throw .malformed("\"stdin\" and \"stdinBase64\" exclude each other")
    }
    try json.endOfLine()
    return line
  }

  private func value(of name: String, into line: inout BatchLine) throws(TextError) {
    switch name {
    case "args":
      try json.array { () throws(TextError) in
        guard line.words.count < Self.mostWords else { throw .malformed("too many arguments") }
        line.words.append(try json.string(limit: Self.longestWord))
      }
    case "stdin": line.input = SharedSecret(try json.secret(limit: SecretReading.longestSecret))
    case "stdinBase64":
      line.input = SharedSecret(try json.secretFromBase64(limit: SecretReading.longestSecret))
    default: throw .member(name, "is none of args, stdin, stdinBase64")
    }
  }

  private static let mostWords = 64
  private static let longestWord = 8 << 10
}
