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
    role, suite, secretFormat, PINOptions.guardMode, PINOptions.guardItem, accessible,
    ItemOptions.thisDeviceOnly, ItemOptions.access, ItemOptions.audit,
  ]
  static let channels = [SecretChannel.applicationPassword, .pin]
  static let standardInput = StandardInput.line("otpauth:// URI, or with --suite the secret")
  static let needs = VaultNeed.unlocked
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.alreadyExists, .refused]
  static let notes =
    ["The URI is never an argument, because every program could read it."] + suiteNotes + [
      "A checked PIN is verified first, a camouflaged one is typed twice. Where --pin-mode makes the PIN item, --pin-fd gives "
        + "the new PIN. A secret is stored behind a camouflaged PIN once in its life: of two stored copies, a thief learns the "
        + "PIN. To store the account again, have the server make a new secret."
    ]
  static let example =
    "printf %s 'otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0' | vaultctl otp add rfc"

  static func run(_ command: Command) throws -> Outcome {
    let name = command.required(ItemOptions.newName)
    // Where there is no vault, nothing is asked for and read.
    _ = try command.vault.opened()
    let access = try command.newAccess(accessible: command[accessible])
    try command.vault.unlockBeforeTyping(access)
    let guarding = try NewGuard(command, access: access)
    if let new = try newCredentialWithSuite(command, named: name, access: access) {
      return try add(new, guarding, command)
    }
    let uri = try OTPAuthURI(
      parsing: command.secrets.line("otpauth:// URI", to: "store a credential", twice: true))
    let warnings = uri.warnings.map(\.words)
    for warning in warnings { command.messages.note("warning: \(warning)") }
    let added = try guarding.adding(name, access, in: command) { core, pin, context in
      try core.addOTP(
        uri, named: name, role: command[role] ?? .prover, access: access,
        audit: command[ItemOptions.audit] ?? .changes, pin: pin, context: context)
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
