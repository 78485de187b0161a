/// Why a one-time-password operation was refused. No case carries any part of a secret, a code or a name.
public enum OTPError: Error, Hashable, Sendable {
  /// The key has no bytes.
  case emptyKey
  /// The secret of a URI has fewer than 80 bits.
  case secretTooShort(bitCount: Int)
  /// The secret of a URI has more than ``OTPAuthURI/maximumSecretByteCount`` bytes, or a Base32 text is longer
  /// than ``Base32/maximumTextByteCount``.
  case secretTooLong
  /// The Base32 text cannot be read at this offset; the length of the text when it ends too early.
  case invalidBase32(position: Int)
  /// The algorithm is not SHA1, SHA256 or SHA512, or not the one that Steam codes use.
  case unknownAlgorithm
  /// The number of digits is not 6, 7 or 8 (5 for Steam codes).
  case invalidDigits
  /// The period is not a whole number of seconds, 1 or more, or not the one that Steam codes use.
  case invalidPeriod
  /// The counter is not a number from 0 to 2^64 − 1.
  case invalidCounter
  /// The counter has no successor: the credential must be replaced.
  case counterExhausted
  /// The time is before T0, or a clock offset moves T0 out of range.
  case timeOutOfRange
  /// The text is not a code of the expected format: wrong length, or a character that codes do not have.
  case invalidCode
  /// The window has more candidates than a verifier may accept.
  case invalidWindow
  /// The block of counters is empty, or not smaller than half the look-ahead (or the counters run out).
  case invalidReservation
  /// Too many codes or too much time since the last synchronization.
  case desynchronized
  /// The text is not an acceptable `otpauth:` URI.
  case invalidURI(URIFault)

  /// What is wrong with an `otpauth:` URI.
  public enum URIFault: Hashable, Sendable {
    /// Longer than ``OTPAuthURI/maximumByteCount``.
    case tooLong
    /// It does not begin with `otpauth://`.
    case notOTPAuth
    /// The type is not `totp`, `hotp` or `steam`.
    case unknownType
    /// There is no `/` after the type.
    case missingLabel
    /// A `%` without two hexadecimal digits.
    case malformedPercentEncoding
    /// A name that is not UTF-8.
    case notUTF8
    /// A control character, line separator or bidirectional override, raw or percent-encoded.
    case controlCharacter
    /// A name longer than ``OTPAuthURI/maximumNameByteCount``.
    case nameTooLong
    /// A `#` that is not percent-encoded.
    case fragment
    /// The same parameter twice.
    case duplicateParameter
    /// No `secret` parameter.
    case missingSecret
    /// No `counter` parameter in a `hotp` URI.
    case missingCounter
    /// An `encoder` other than `steam`.
    case unknownEncoder
  }
}
