import AuthenticatorKit
import CommandLineKit
import OneTimePassword
import SecretMemory
import VaultKit
import VaultWords

/// `vaultctl otp add NAME --suite SUITE --secret-format FORMAT`: the secret comes on standard input.
extension OTPAdd {
  static let suite = Setting(
    "suite", .suite, "SUITE",
    "The suite of a credential that signs questions (RFC 6287), like OCRA-1:HOTP-SHA256-8:C-QH64.")
  static let secretFormat = Setting(
    "secret-format", .choice(["hex": SecretFormat.hexadecimal, "base32": .base32, "raw": .raw]), "",
    "How standard input has the secret of a credential with a suite.")
  static let suiteNotes = [
    "--suite needs --secret-format. hex and base32 are a line; raw is every byte of standard input, with a newline at the "
      + "end. 'transaction sign' and 'transaction verify' use the credential."
  ]

  /// What `--suite` describes; nil without it.
  static func newCredentialWithSuite(
    _ command: Command, named name: String, access: AccessControl
  ) throws(CommandError) -> NewOCRACredential? {
    let limits = try command.offlineLimits()
    guard let suite = command[suite] else {
      guard command[secretFormat] == nil else { throw .usage("--secret-format needs --suite") }
      return nil
    }
    guard command[secretFormat] != nil else {
      throw .usage("--suite needs --secret-format", hint: "it says whether the secret is hex, base32 or raw")
    }
    var new = NewOCRACredential(suite, name: name, role: command[role] ?? .prover)
    (new.access, new.audit) = (access, command[ItemOptions.audit] ?? .changes)
    (new.offlineCodes, new.offlineSeconds) = (limits.codes, limits.seconds)
    new.allowsWeak = command[ItemOptions.allowWeak]
    return new
  }

  static func add(_ new: NewOCRACredential, _ guarding: NewGuard, _ command: Command) throws -> Outcome {
    let key = SharedSecret(try command.secrets.key(in: command[secretFormat] ?? .raw))
    let bits = 8 * key.byteCount
    if (80..<128).contains(bits) {
      command.messages.warn(OTPAuthURI.Warning.shortSecret(bitCount: bits).words)
    } else if (8..<80).contains(bits), new.allowsWeak {
      command.messages.warn(OTPAuthURI.Warning.weakSecret(bitCount: bits).words)
    }
    let source = CodeSource(new.suite, key: key.bytes, role: new.role, counter: new.counter)
    var notes: [String] = []
    let added = try guarding.adding(new.name, new.access, in: command) { core, pin, context in
      try core.addOCRA(new, key: key.bytes, pin: pin, context: context) {
        state, transaction throws(VaultError) in
        notes = try skipUsed(&state, of: source, in: &transaction)
      }
    }
    for note in notes { command.messages.warn(note) }
    return Outcome(json: added.item.json)
  }
}

extension ValueKind where Value == OCRASuite {
  static var suite: ValueKind {
    ValueKind { text, name throws(CommandError) in
      do throws(OTPError) { return try OCRASuite(text) } catch { throw CommandError(VaultError(otp: error)) }
    }
  }
}
