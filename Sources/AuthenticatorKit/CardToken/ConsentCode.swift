public import SecretMemory
import TextPreparation
public import VaultKit

/// The code with which a person consents: exactly six digits. Copies share one place in memory.
public struct ConsentCode: Sendable {
  let digits: SharedSecret

  /// A code as the person typed it. Blanks and dashes between the digits do not matter, and digits of full width are digits.
  ///
  /// - Throws: ``VaultError/Code/malformed`` for anything but six digits 0 to 9: such a code is not sent, and is no
  ///   attempt.
  public init(_ typed: consuming SecretBytes) throws(VaultError) {
    let digits = TypedCode.characters(of: typed)
    let isCode = digits.expose { bytes in
      bytes.byteCount == Self.digitCount
        && (0..<Self.digitCount).allSatisfy { 0x30...0x39 ~= bytes.byte(at: $0) }
    }
    guard isCode else {
      throw VaultError(
        .malformed, "the code of a consent is six digits", hint: "type the digits alone")
    }
    self.digits = SharedSecret(digits)
  }

  static let digitCount = 6
}
