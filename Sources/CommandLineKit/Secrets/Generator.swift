/// What `--generate LENGTH[:ALPHABET]` asks for.
package struct Generator: Sendable, Equatable {
  package enum Alphabet: String, Sendable, CaseIterable {
    case alnum
    case all
    case words
    case hex
  }

  /// Characters, or words for `words`.
  package let length: Int
  package let alphabet: Alphabet

  package init?(_ text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count <= 2, let number = parts.first, !number.isEmpty, number.utf8.count <= 4,
      number.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let length = Int(number),
      (1...1024).contains(length)
    else { return nil }
    guard let alphabet = parts.count == 2 ? Alphabet(rawValue: String(parts[1])) : .alnum else { return nil }
    self.length = length
    self.alphabet = alphabet
  }
}
