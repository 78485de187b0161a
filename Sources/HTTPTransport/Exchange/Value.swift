package import SecretMemory
import TextFormats

/// A value of a request or of a reply. A text may be secret, whatever its name.
package enum Value: Sendable {
  /// UTF-8.
  case text(SharedSecret)
  /// Of a member whose name ends in `Base64`.
  case bytes(SharedSecret)
  case number(UInt64)
  case flag(Bool)
  /// What a mapping cannot name: null, an object, an array, a number below zero or with a fraction.
  case other

  /// The text of what is no secret: an id, an operation, a value that decides which error it is.
  var plainText: String? {
    guard case .text(let secret) = self else { return nil }
    return secret.plainText
  }

  /// The value as a text, to be compared with one of the configuration.
  var comparable: String? {
    switch self {
    case .text: plainText
    case .number(let number): String(number)
    case .flag(let flag): String(flag)
    case .bytes, .other: nil
    }
  }

  /// The value as a part of a text.
  var asText: SharedSecret? {
    switch self {
    case .text(let text): text
    case .bytes(let bytes): bytes.expose { UTF8Text.isValid($0) } ? bytes : nil
    case .number, .flag: comparable.map { SharedSecret(SecretBytes(copying: Array($0.utf8))) }
    case .other: nil
    }
  }

  /// The value in JSON, with its type.
  var json: JSON? {
    switch self {
    case .number(let number): .unsigned(number)
    case .flag(let flag): .boolean(flag)
    case .text, .bytes: asText.map { .secretText($0) }
    case .other: nil
    }
  }
}

extension SharedSecret {
  /// The UTF-8 text of bytes that are no secret.
  var plainText: String? {
    expose { span in
      unsafe span.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
    }
  }
}
