import TextPreparation

/// An OCRA code as a person typed it or a program received it, checked before it is compared.
///
/// Blanks and dashes between the characters do not matter, and digits of full width are digits. Otherwise only the characters of
/// the suite are accepted. What cannot be a code is an error, and never counts as a failed attempt. ``OCRAGenerator/isCode(_:for:)`` compares codes in constant time; `==` does not.
public struct OCRACode: Sendable, Hashable {
  /// The characters: decimal digits, or for ``OCRAFormat/wholeHMAC`` lowercase hexadecimal digits.
  public let text: String

  /// A code of a suite.
  ///
  /// - Parameters:
  ///   - text: ``OCRASuite/codeLength`` digits; hexadecimal digits of either case.
  ///   - suite: The suite of the code.
  /// - Throws: ``OTPError/Code/invalidCode``.
  public init(_ text: some StringProtocol, for suite: OCRASuite) throws(OTPError) {
    let text = TypedCode.characters(of: String(text))
    let characters = Array(text.utf8.prefix(suite.codeLength + 1))
    let format: OCRAQuestion.Format = suite.format == .wholeHMAC ? .hexadecimal : .numeric
    guard characters.count == suite.codeLength, characters.allSatisfy(format.contains) else {
      throw .invalidCode
    }
    self.text = text.lowercased()
  }
}
