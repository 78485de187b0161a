import AuthenticatorKit
import CommandLineKit
import OneTimePassword
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl otp add NAME`: the URI comes on standard input.
enum OTPAdd: VaultVerb {
  static let words = ["otp", "add"]
  static let summary = "Store a credential from an otpauth:// URI, or from a suite and a secret."
  static let arguments = [ItemOptions.newName]
  static let role = Setting(
    "role", .choice(["prover": OTPRole.prover, "verifier": .verifier]), "",
    "A prover makes codes, a verifier checks them.", defaultValue: "prover")
  static let accessible = ItemOptions.accessible("When codes can be made or checked.")
  static let ownOptions: [any OptionKey] = [
    role, suite, secretFormat, accessible, ItemOptions.thisDeviceOnly, ItemOptions.access, ItemOptions.audit,
  ]
  static let channels = [SecretChannel.applicationPassword]
  static let standardInput = StandardInput.line("otpauth:// URI, or with --suite the secret")
  static let needs = VaultNeed.unlocked
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.alreadyExists, .refused]
  static let notes = ["The URI is never an argument, because every program could read it."] + suiteNotes
  static let example =
    "printf %s 'otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0' | vaultctl otp add rfc"

  static func run(_ command: Command) throws -> Outcome {
    let name = command.required(ItemOptions.newName)
    // Where there is no vault, nothing is asked for and read.
    _ = try command.vault.opened()
    let access = try command.newAccess(accessible: command[accessible])
    try command.vault.unlockBeforeTyping(access)
    if let new = try newCredentialWithSuite(command, named: name, access: access) {
      return try add(new, command)
    }
    let uri = try OTPAuthURI(
      parsing: command.secrets.line("otpauth:// URI", to: "store a credential", twice: true))
    let warnings = uri.warnings.map(\.words)
    for warning in warnings { command.messages.note("warning: \(warning)") }
    let context = try command.vault.context(for: access)
    let added = try command.vault.unlocking { core in
      try core.addOTP(
        uri, named: name, role: command[role] ?? .prover, access: access,
        audit: command[ItemOptions.audit] ?? .changes, context: context)
    }
    let json = added.item.json
    return Outcome(
      json: warnings.isEmpty ? json : json.adding("warnings", .array(warnings.map { .string($0) })))
  }
}

extension OTPAuthURI.Warning {
  fileprivate var words: String {
    switch self {
    case .shortSecret(let bits): "the secret has \(bits) bits only; RFC 4226 asks for 128"
    case .trailingBits: "the Base32 text of the secret ends in bits that mean nothing"
    case .issuerMismatch: "the label names another issuer than the parameter, which counts"
    case .emptyAccount: "the label names no account"
    case .ignoredParameters(let count):
      "\(count) parameter\(count == 1 ? "" : "s") of the URI mean nothing here"
    }
  }
}
