import Glibc
import OneTimePassword
import SecretMemory
import VaultKit

/// Which keys may be behind a camouflaged PIN: only those that look random, because only then does the right PIN look like every
/// other one. A key that is text, digits or a pattern tells which mask was taken off rightly.
///
/// A key is described in the ways of ``forms``. A description that was fixed before saves k bits or more with at most one in 2^k of
/// the random keys. So what a form has to save, ``limit(of:byteCount:)``, bounds how many random keys it refuses, and
/// ``chance(byteCount:)`` is the sum: with 20 bytes and more, one in nine million at most. A form whose chance in a random key is
/// larger than its part of the budget never saves so much, and refuses nothing: some forms begin at a larger length.
package enum MaskableKey {
  /// The fewest bytes: of a shorter key, too many random ones look like something else.
  static let fewestBytes = 10

  /// - Throws: ``VaultError/Code/policy`` for a key that is not random enough.
  static func refuse(_ key: borrowing SecretBytes) throws(VaultError) {
    guard key.byteCount >= fewestBytes else {
      throw VaultError(
        .policy, "a key of fewer than \(fewestBytes) bytes cannot be behind a camouflaged PIN",
        hint: "have the server make a random key of 20 bytes, or use a checked PIN")
    }
    guard key.expose(isRandom) else {
      throw VaultError(
        .policy,
        "a key that is text or has a pattern cannot be behind a camouflaged PIN: it would tell which PIN is right",
        hint: "have the server make a random key of 20 bytes, or use a checked PIN")
    }
  }

  /// Whether a key looks random.
  package static func isRandom(_ bytes: RawSpan) -> Bool {
    !hasFormOfItsLength(bytes)
      && forms.allSatisfy { $0.saving(bytes) < limit(of: $0, byteCount: bytes.byteCount) }
  }

  /// At most so many of the random keys are refused, without the forms of one length.
  package static func chance(byteCount: Int) -> Double {
    forms.reduce(0) { $0 + exp2(-limit(of: $1, byteCount: byteCount)) }
  }

  /// The bits that a form has to save. In a key of fewer than 20 bytes fewer suffice, in proportion, so more random keys are refused:
  /// the page says how many.
  package static func limit(of form: KeyForm, byteCount: Int) -> Double {
    (22.5 + form.share) * min(20, Double(byteCount)) / 20
  }

  /// All forms. Their shares of the budget come to 0.665, so with 20 bytes and more they refuse at most 0.665 · 2^-22.5 = 1.12 · 10^-7 of
  /// the random keys.
  package static let forms: [KeyForm] = [
    KeyForm("text", share: 3, savingOfText),
    KeyForm("printable ASCII, perhaps filled up", share: 5, savingOfPrintable),
    KeyForm("UTF-8", share: 6, savingOfUTF8),
    KeyForm("UTF-16", share: 6, savingOfUTF16),
    KeyForm("text of East Asia", share: 6, savingOfPairs),
    KeyForm("letters of another code", share: 6, savingOfLetters),
    KeyForm("two decimal digits in each byte", share: 4, savingOfPackedDigits),
    KeyForm("small bytes", share: 4, savingOfSmallBytes),
    KeyForm("large bytes", share: 4, savingOfLargeBytes),
    KeyForm("a run of one kind of bytes", share: 4, savingOfRun),
    KeyForm("many bytes 00 or FF", share: 6, savingOfFill),
    KeyForm("few values", share: 6, savingOfFewValues),
    KeyForm("bits that are the same in every byte", share: 5, savingOfConstantBits),
    KeyForm("a bit that is mostly the same, or the parity", share: 5, savingOfBiasedBit),
    KeyForm("bytes that follow from earlier ones", share: 6, savingOfRepetition),
    KeyForm("sorted bytes", share: 6, savingOfOrder),
    KeyForm("DER", share: 6, savingOfDER),
    KeyForm("its length at the beginning", share: 6, savingOfLength),
    KeyForm("the time in seconds", share: 6, savingOfTime),
    KeyForm("CRC-32 at the end", share: 6, savingOfCRC),
    KeyForm("a key of examples", share: 7, savingOfExample),
  ]

  /// Forms that too many random keys have for the budget, and that are refused all the same where a key of this length is made so.
  ///
  /// Of the random keys, one in eight is a UUID, one in 2^15 (16 bytes) or 2^23 (24 bytes) has one parity in all bytes, and three in 2^16
  /// begin with their length, which no key of 20, 24, 32 bytes or another multiple of 4 is asked for.
  private static func hasFormOfItsLength(_ bytes: RawSpan) -> Bool {
    isUUID(bytes) || hasParity(bytes) || beginsWithLength(bytes)
  }

  /// The version and the variant of a UUID (RFC 9562 §4).
  private static func isUUID(_ bytes: RawSpan) -> Bool {
    bytes.byteCount == 16 && 1...8 ~= bytes.byte(at: 6) >> 4 && bytes.byte(at: 8) >> 6 == 2
  }

  /// The parity of the bytes in keys of DES.
  private static func hasParity(_ bytes: RawSpan) -> Bool {
    let odd = (0..<bytes.byteCount).count { bytes.byte(at: $0).nonzeroBitCount % 2 == 1 }
    return [16, 24].contains(bytes.byteCount) && (odd == 0 || odd == bytes.byteCount)
  }

  /// DER of an octet string, or the number of the following bytes, or bits, in two bytes.
  private static func beginsWithLength(_ bytes: RawSpan) -> Bool {
    let rest = bytes.byteCount - 2
    guard bytes.byteCount % 4 != 0 else { return false }
    let bits = 8 * rest - bytes.byte(at: 2).leadingZeroBitCount
    let number = Int(bytes.byte(at: 0)) << 8 | Int(bytes.byte(at: 1))
    return number == rest || number == 0x0400 | rest || number == bits
  }
}

/// A way to describe keys that are not random.
package struct KeyForm: Sendable {
  package let name: String
  /// Its part of the budget is one in 2 to the power of this.
  package let share: Double
  /// How many bits the description is shorter than the key. At most one in 2^k random keys of any length saves k bits or more.
  package let saving: @Sendable (RawSpan) -> Double

  init(_ name: String, share: Double, _ saving: @escaping @Sendable (RawSpan) -> Double) {
    (self.name, self.share, self.saving) = (name, share, saving)
  }
}

extension Attributes {
  /// Refuses a credential that must not be behind a camouflaged PIN.
  ///
  /// - Parameter key: Its key, without a mask.
  /// - Throws: ``VaultError/Code/policy``.
  func refuseMasking(_ key: borrowing SecretBytes) throws(VaultError) {
    if let text = self[.ocraSuite], let suite = try? OCRASuite(text), suite.pinHash != nil {
      throw VaultError(
        .policy,
        "a suite with a PIN of its own cannot be behind a camouflaged PIN: one mistaken for the other gives it away",
        hint: "use a checked PIN, or a suite without P")
    }
    try MaskableKey.refuse(key)
  }
}
