import TextPreparation

/// A code as a person typed it, checked before it is counted or compared.
///
/// Blanks and dashes between the characters do not matter, and digits of full width are digits. Otherwise only the characters of
/// the format are accepted. What cannot be a code is an error, and never counts as a failed attempt.
public struct OTPCode: Sendable, Hashable {
  /// The format of the code.
  public let format: OTPFormat
  /// The code as a number below the format's modulus.
  public let value: UInt32

  /// A code of a known format.
  ///
  /// - Throws: ``OTPError/Code/invalidCode``.
  public init(_ text: some StringProtocol, format: OTPFormat) throws(OTPError) {
    guard let value = format.value(of: TypedCode.characters(of: String(text)).utf8) else {
      throw .invalidCode
    }
    self.format = format
    self.value = value
  }

  /// A code whose format follows from its length: 6 to 8 digits, or 5 characters of Steam.
  ///
  /// - Throws: ``OTPError/Code/invalidCode``.
  public init(_ text: some StringProtocol) throws(OTPError) {
    let text = TypedCode.characters(of: String(text))
    let length = text.utf8.count
    guard length != OTPFormat.steam.length else {
      try self.init(text, format: .steam)
      return
    }
    guard (6...8).contains(length) else { throw .invalidCode }
    try self.init(text, format: .decimal(length))
  }

  /// The code's characters.
  public var text: String { format.text(of: value) }
}
