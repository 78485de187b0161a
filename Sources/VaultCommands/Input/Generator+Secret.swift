import Glibc
package import SecretMemory

/// Bytes that nobody can guess, written into secret memory: the kernel's, or those of a test.
package struct RandomBytes: Sendable {
  private let fill: @Sendable (Int) throws(CommandError) -> SecretBytes

  package init(_ fill: @escaping @Sendable (Int) throws(CommandError) -> SecretBytes) { self.fill = fill }

  package func callAsFunction(_ count: Int) throws(CommandError) -> SecretBytes { try fill(count) }

  /// getentropy(3); its failure is an error and never weaker bytes.
  package static let kernel = RandomBytes { count throws(CommandError) in
    try SecretBytes(capacity: count) { output throws(CommandError) in
      var failure: Int32 = 0
      unsafe output.withUnsafeMutableBytes { bytes, filled in
        while filled < count, failure == 0 {
          let part = min(256, count - filled)
          if unsafe getentropy(bytes.baseAddress! + filled, part) == 0 {
            filled += part
          } else {
            failure = errno
          }
        }
      }
      guard failure == 0 else { throw .io("the kernel's random generator failed", errno: failure) }
    }
  }
}

extension Generator {
  /// A secret of this length and alphabet, every one equally likely.
  package func secret(from random: RandomBytes) throws(CommandError) -> SecretBytes {
    alphabet == .words ? try words(from: random) : try characters(from: random)
  }

  /// Bytes beyond the largest multiple of the alphabet are drawn anew, so that no character is likelier.
  private func characters(from random: RandomBytes) throws(CommandError) -> SecretBytes {
    let limit = 256 - 256 % alphabet.count
    return try SecretBytes(capacity: length) { output throws(CommandError) in
      while output.freeCapacity > 0 {
        let drawn = try random(256)
        drawn.expose { bytes in
          for offset in 0..<bytes.byteCount where output.freeCapacity > 0 {
            let byte = unsafe Int(bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
            if byte < limit { output.append(byte: alphabet.character(byte % alphabet.count)) }
          }
        }
      }
    }
  }

  /// Words of five letters, consonants and vowels by turns, 16 bits each, joined by dashes.
  private func words(from random: RandomBytes) throws(CommandError) -> SecretBytes {
    let drawn = try random(2 * length)
    return SecretBytes(capacity: 6 * length - 1) { output in
      drawn.expose { bytes in
        for word in 0..<length {
          if word > 0 { output.append(byte: UInt8(ascii: "-")) }
          let high = unsafe UInt16(bytes.unsafeLoad(fromByteOffset: 2 * word, as: UInt8.self))
          let low = unsafe UInt16(bytes.unsafeLoad(fromByteOffset: 2 * word + 1, as: UInt8.self))
          Self.append(word: high << 8 | low, to: &output)
        }
      }
    }
  }

  private static func append(word: UInt16, to output: inout OutputRawSpan) {
    output.append(byte: consonant(word >> 12))
    output.append(byte: vowel(word >> 10))
    output.append(byte: consonant(word >> 6))
    output.append(byte: vowel(word >> 4))
    output.append(byte: consonant(word))
  }

  private static func consonant(_ number: UInt16) -> UInt8 {
    Array("bdfghjklmnprstvz".utf8)[Int(number & 15)]
  }
  private static func vowel(_ number: UInt16) -> UInt8 { Array("aiou".utf8)[Int(number & 3)] }
}

extension Generator.Alphabet {
  var count: Int {
    switch self {
    case .alnum: 62
    case .all: 94
    case .hex, .words: 16
    }
  }

  func character(_ number: Int) -> UInt8 {
    switch (self, number) {
    case (.all, _): UInt8(33 + number)
    case (_, 0...9): UInt8(48 + number)
    case (.alnum, 10...35): UInt8(55 + number)
    default: UInt8((self == .hex ? 87 : 61) + number)
    }
  }
}
