import Glibc
package import SecretMemory
import TextFormats

extension Generator {
  /// A secret of this length and alphabet, every one equally likely.
  package func secret(from random: RandomBytes) throws(CommandError) -> SecretBytes {
    guard alphabet != .words else { return try words(from: random) }
    return try SecretBytes.characters(length, of: alphabet.characters) { count throws(CommandError) in
      try random(count)
    }
  }

  /// Words of the list joined by dashes, 11 bits each: 65,536 is a multiple of 2,048, so no word is likelier.
  private func words(from random: RandomBytes) throws(CommandError) -> SecretBytes {
    let drawn = try random(2 * length)
    return SecretBytes(capacity: (WordList.longest + 1) * length - 1) { output in
      drawn.expose { bytes in
        for index in 0..<length {
          if index > 0 { output.append(byte: UInt8(ascii: "-")) }
          let number = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: 2 * index, as: UInt16.self)
          Self.append(WordList.word(Int(number) % WordList.count), to: &output)
        }
      }
    }
  }

  private static func append(_ word: UInt64, to output: inout OutputRawSpan) {
    var rest = word
    while rest & 0xFF > 0x20 {
      output.append(byte: UInt8(truncatingIfNeeded: rest))
      rest >>= 8
    }
  }

  /// How hard the secret is to guess: the binary logarithm of how many there are, rounded down.
  package var bitCount: Int { Int(Double(length) * log2(Double(alphabet.count))) }
}

extension Generator.Alphabet {
  var count: Int {
    switch self {
    case .alnum: 62
    case .all: 94
    case .hex: 16
    case .words: WordList.count
    }
  }

  /// The characters of any alphabet but `words`.
  fileprivate var characters: [UInt8] { (0..<count).map(character) }

  private func character(_ number: Int) -> UInt8 {
    switch (self, number) {
    case (.all, _): UInt8(33 + number)
    case (_, 0...9): UInt8(48 + number)
    case (.alnum, 10...35): UInt8(55 + number)
    default: UInt8((self == .hex ? 87 : 61) + number)
    }
  }
}
