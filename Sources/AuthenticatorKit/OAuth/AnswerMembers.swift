package import SecretMemory
import TextFormats
import VaultKit

/// Members of an answer; one that is null is as absent.
///
/// What an answer is about has one type (`read…`): the first member of another type is thrown by ``check()``, when the whole answer is
/// known to be JSON. What only describes it (`note…`) is absent where it has another form than it should: it never costs the tokens
/// beside it.
struct AnswerMembers {
  private(set) var secrets: [String: SharedSecret] = [:]
  private(set) var texts: [String: String] = [:]
  private(set) var numbers: [String: UInt64] = [:]
  private(set) var flags: [String: Bool] = [:]
  private(set) var lists: [String: [String]] = [:]
  private var wrong: String?

  mutating func readSecret(_ name: String, limit: Int, _ reader: JSONReader) throws(TextError) {
    guard try isNext(.text, name, reader) else { return }
    secrets[name] = SharedSecret(try reader.secret(limit: limit))
  }

  mutating func readText(_ name: String, limit: Int, _ reader: JSONReader) throws(TextError) {
    guard try isNext(.text, name, reader) else { return }
    texts[name] = try reader.string(limit: limit)
  }

  /// True or false.
  mutating func readFlag(_ name: String, _ reader: JSONReader) throws(TextError) {
    guard try reader.kind() == .word else {
      try reader.skip()
      return wrong = wrong ?? name
    }
    flags[name] = try reader.word()
  }

  /// An array of texts.
  mutating func readTexts(_ name: String, limit: Int, _ reader: JSONReader) throws(TextError) {
    guard try isNext(.array, name, reader) else { return }
    var texts: [String] = []
    var isWrong = false
    try reader.array { () throws(TextError) in
      if try reader.kind() == .text { return texts.append(try reader.string(limit: limit)) }
      isWrong = true
      try reader.skip()
    }
    if isWrong { return wrong = wrong ?? name }
    lists[name] = texts
  }

  private mutating func isNext(
    _ kind: JSONReader.Kind, _ name: String, _ reader: JSONReader
  ) throws(TextError) -> Bool {
    switch try reader.kind() {
    case kind: return true
    case .word: if try reader.word() == nil { return false }
    default: try reader.skip()
    }
    wrong = wrong ?? name
    return false
  }

  /// - Throws: ``VaultError/Code/network``.
  func check() throws(VaultError) {
    if let wrong { throw .peerAnswered("'\(wrong)' has a value that it cannot have") }
  }

  /// A text that shows as itself.
  ///
  /// - Throws: ``VaultError/Code/network``.
  func text(_ name: String, _ counts: ClosedRange<Int>) throws(VaultError) -> String? {
    guard let text = texts[name] else { return nil }
    guard counts.contains(text.utf8.count), VisibleText.flaw(in: text) == nil else {
      throw .peerAnswered("'\(name)' is not a text of \(counts.lowerBound) to \(counts.upperBound) bytes")
    }
    return text
  }
}

// MARK: What only describes

extension AnswerMembers {
  /// A secret text; one that is empty is absent.
  mutating func noteSecret(_ name: String, _ reader: JSONReader) throws(TextError) {
    let text = try described(reader) { value throws(TextError) in
      SharedSecret(try value.secret(limit: SecretBytes.maximumByteCount - 1))
    }
    if let text, text.byteCount > 0 { secrets[name] = text }
  }

  /// A text that shows as itself.
  mutating func noteText(_ name: String, _ counts: ClosedRange<Int>, _ reader: JSONReader) throws(TextError) {
    texts[name] = try described(reader) { value throws(TextError) in try value.shownText(counts) }
  }

  /// The words of a scope: a text (RFC 6749 §3.3), or an array of texts, as some servers have it.
  ///
  /// - Returns: False for one that cannot be read: what the server permits is not known.
  mutating func noteScope(
    _ name: String, _ counts: ClosedRange<Int>, _ reader: JSONReader
  ) throws(TextError) -> Bool {
    let found = try described(reader) { (value) throws(TextError) -> Scope? in
      switch try value.kind() {
      case .text: return try value.shownText(counts).map(Scope.init)
      case .array:
        var words: [String?] = []
        try value.array { () throws(TextError) in words.append(try value.shownText(counts)) }
        let text = words.compactMap(\.self).joined(separator: " ")
        return words.contains(nil) || !counts.contains(text.utf8.count) ? nil : Scope(text: text)
      case .word: return try value.word() == nil ? Scope(text: nil) : nil
      default: return nil
      }
    }
    texts[name] = found?.text
    return found != nil
  }

  /// A scope that can be read; without a text where it is null.
  private struct Scope { let text: String? }

  /// A whole number of seconds: a number, also with a fraction of zeros, or a text with one. RFC 6749 A.14 has digits, and some
  /// servers write them as a text. One above 2^32 − 1 is absent: no number of a server is stored without a bound.
  mutating func noteSeconds(_ name: String, _ reader: JSONReader) throws(TextError) {
    let number = try described(reader) { value throws(TextError) in
      guard try value.kind() == .text else { return try value.number(allowsZeroFraction: true) }
      let digits = JSONReader(ByteReader(try value.secret(limit: 32)))
      let number = try digits.number(allowsZeroFraction: true)
      return try digits.isAtEnd() ? number : nil
    }
    if let number, number <= UInt64(UInt32.max) { numbers[name] = number }
  }

  /// Reads a value alone: whatever is wrong with it is its own fault, and it is absent then.
  private func described<R>(
    _ reader: JSONReader, _ read: (JSONReader) throws(TextError) -> R?
  ) throws(TextError) -> R? {
    let value = JSONReader(
      ByteReader(try reader.raw(limit: SecretBytes.maximumByteCount - 1)), spansLines: true)
    do throws(TextError) {
      guard let found = try read(value), try value.isAtEnd() else { return nil }
      return found
    } catch { return nil }
  }
}

extension JSONReader {
  /// A text that is no secret, where it shows as itself.
  fileprivate func shownText(_ counts: ClosedRange<Int>) throws(TextError) -> String? {
    let text = try string(limit: counts.upperBound)
    return text.utf8.count >= counts.lowerBound && VisibleText.flaw(in: text) == nil ? text : nil
  }

  fileprivate func isAtEnd() throws(TextError) -> Bool { try !findLine() }
}

extension SharedSecret {
  package var isVisibleASCII: Bool { isASCII(of: 0x21...0x7E) }

  /// The same with spaces: what a secret of a client may have (RFC 6749 A.2).
  var isPrintableASCII: Bool { isASCII(of: 0x20...0x7E) }

  private func isASCII(of characters: ClosedRange<UInt8>) -> Bool {
    expose { bytes in (0..<bytes.byteCount).allSatisfy { characters.contains(bytes.byte(at: $0)) } }
  }
}
