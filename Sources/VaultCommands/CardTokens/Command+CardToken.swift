import AuthenticatorKit
import CommandLineKit
import SecretMemory
import VaultKit
import VaultWords

/// The options of verbs about card tokens and consents.
enum CardTokenOptions {
  static let timeToLive = Setting(
    "ttl", .duration(NewCardToken.lifeSeconds), "TIME",
    "How long the token is valid: 1s to 30d. It ends with the boot of the machine, too.")
  static let uses = Setting(
    "uses", .number(UInt64(1)...UInt64(UInt32.max)), "N",
    "How often the token can be taken; once if not given.")
  static let accessible = ItemOptions.accessible("When the token can be taken.")

  static let sessionForm = "A session is 64 hexadecimal digits, as 'vaultctl card session open' prints them."
  static let sessionNote =
    sessionForm
    + " It is a part of the token's key: without it (6) and with another one (9) nothing opens the token."
  static let cardDataNote =
    "Card numbers and security codes are refused (9), as the token and in every name: 13 to 19 digits that are a card number, and "
    + "3 or 4 digits alone; spaces and dashes do not count."
}

extension Command {
  /// The session of a verb that is about one.
  ///
  /// - Throws: exit 6 without it, as where an item needs its session; exit 12.
  func neededSession() throws -> ViewingSession {
    guard let session = try session() else {
      throw CommandError(
        .interactionNotAllowed, "the session is needed, and was not given",
        hint: "give " + SecretChannel.session.options.advice)
    }
    return session
  }

  /// The session of `--session-fd` or `--session-file`; `nil` if neither is given.
  ///
  /// - Throws: exit 12.
  func session() throws -> ViewingSession? {
    guard let text = try secrets.given(.session) else { return nil }
    guard let bytes = SecretBytes(hexadecimal: text), bytes.byteCount == 32 else {
      throw CommandError.malformed(
        "a session is 64 hexadecimal digits", hint: "'vaultctl card session open' makes one")
    }
    return try ViewingSession(bytes)
  }

  /// The token that the options describe.
  ///
  /// - Parameter timeToLive: Where `--ttl` is not given.
  func newCardToken(named name: String, timeToLive: Int64? = nil) throws -> NewCardToken {
    guard let seconds = self[CardTokenOptions.timeToLive] ?? timeToLive else {
      throw CommandError.usage("--ttl is missing", hint: "say how long the token is valid, such as --ttl 90s")
    }
    var new = NewCardToken(name, timeToLive: .seconds(seconds))
    new.uses = UInt32(clamping: self[CardTokenOptions.uses] ?? 1)
    if let label = self[ItemOptions.label], !label.isEmpty { new.label = label }
    new.access = try newAccess(accessible: self[CardTokenOptions.accessible])
    new.audit = self[ItemOptions.audit] ?? .changes
    return new
  }
}

extension SharedSecret {
  /// The bytes as lower-case hexadecimal digits.
  func hexadecimal() -> SharedSecret {
    SharedSecret(
      expose { bytes in
        SecretBytes(capacity: 2 * bytes.byteCount) { output in
          for index in 0..<bytes.byteCount {
            let byte = unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
            for nibble in [byte >> 4, byte & 15] {
              output.append(nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10)
            }
          }
        }
      })
  }
}
