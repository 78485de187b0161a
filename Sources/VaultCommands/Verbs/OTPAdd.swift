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
  static let offlineCodes = Setting(
    "offline-codes", .number(1...UInt64(UInt32.max)), "K",
    "Make at most K codes without a synchronization; any number if not given.")
  static let offlineAge = Setting(
    "offline-age", .duration, "TIME",
    "Make codes only for this time after a synchronization; for any time if not given.")
  static let ownOptions: [any OptionKey] = [
    role, suite, secretFormat, offlineCodes, offlineAge, PINOptions.guardMode, PINOptions.guardItem,
    accessible,
    ItemOptions.allowWeak, ItemOptions.thisDeviceOnly, ItemOptions.access, ItemOptions.audit,
  ]
  static let channels = [SecretChannel.applicationPassword, .pin]
  static let standardInput = StandardInput.line("otpauth:// URI, or with --suite the secret")
  static let needs = VaultNeed.unlocked
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.alreadyExists, .refused]
  static let notes =
    [
      "Where NAME is an entry without a one-time code, the credential becomes its code: 'code NAME' makes codes, and 'rm', "
        + "'mv' and 'trash restore' take it along.",
      "Beyond --offline-codes or --offline-age a prover makes no code (17) until 'otp sync' or, for a credential that no server "
        + "has activated, 'otp counter --set'. The time of adding counts as a synchronization.",
      "The URI is never an argument, because every program could read it.",
      "A parameter of the URI that is not known refuses it (12), because its codes could be others. What other programs write for their "
        + "display (color, icon, image, lock and the like) is left out, with a warning that names it. A parameter without a value is "
        + "absent. '&amp;' is read as '&'.",
      "A secret under 80 bits, and codes of 4 or 5 digits, are refused (12) without --allow-weak. With it they are stored, and 'otp "
        + "list', 'otp show' and 'vault doctor' name them as weak.",
      "Where the codes of the new credential have counters, its secret is compared with those of the vault, as 'import' does: a prover "
        + "that is not ahead of another one with its secret gives no code (17) before 'vaultctl otp counter NAME --set N', and a "
        + "verifier goes on where another one with its secret is. Secrets that have an access rule, are behind a PIN or are locked are "
        + "not compared.",
    ] + suiteNotes + [
      "A checked PIN is verified first, a camouflaged one is typed twice. Where --pin-mode makes the PIN item, --pin-fd gives "
        + "the new PIN. A secret is stored behind a camouflaged PIN once in its life: of two stored copies, a thief learns the "
        + "PIN. To store the account again, have the server make a new secret."
    ]
  static let examples = [
    "printf %s 'otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0' | vaultctl otp add rfc",
    "vaultctl otp add turnstile --role verifier < uri",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let name = command.required(ItemOptions.newName)
    // Where there is no vault, nothing is asked for and read.
    _ = try command.vault.opened()
    try command.refuseTaken(name) { command.mayBecomeCode(of: $0) }
    let access = try command.newAccess(accessible: command[accessible])
    try command.vault.unlockBeforeTyping(access)
    let limits = try command.offlineLimits()
    let guarding = try NewGuard(command, access: access)
    if let new = try newCredentialWithSuite(command, named: name, access: access) {
      return try add(new, guarding, command)
    }
    let uri = try OTPAuthURI(
      parsing: command.secrets.line("otpauth:// URI", to: "store a credential", twice: false),
      allowingWeak: command[ItemOptions.allowWeak])
    for warning in uri.warnings { command.messages.warn(warning.words) }
    let role = command[role] ?? .prover
    let source = CodeSource(uri, role: role)
    var notes: [String] = []
    let added = try guarding.adding(name, access, in: command) { core, pin, context in
      try core.addOTP(
        uri, named: name, role: role, access: access, audit: command[ItemOptions.audit] ?? .changes, pin: pin,
        limits: limits, context: context
      ) { state, transaction throws(VaultError) in
        notes = try skipUsed(&state, of: source, in: &transaction)
      }
    }
    for note in notes { command.messages.warn(note) }
    return Outcome(json: added.item.json)
  }
}

extension OTPAdd {
  /// Keeps a new credential from giving or accepting codes that another one of the vault has used, as an import does.
  ///
  /// - Returns: What a person should know.
  static func skipUsed(
    _ state: inout ItemState, of source: CodeSource?, in transaction: inout WriteTransaction
  ) throws(VaultError) -> [String] {
    guard let source else { return [] }
    var used = UsedCodes(for: source)
    return try used.skipUsed(&state, of: source, in: &transaction)
  }
}

extension Command {
  /// Whether a new credential can become the one-time code of an item that has its name.
  fileprivate func mayBecomeCode(of item: Item) -> Bool {
    item.kind.rules.canBeEntry && code(of: item) == nil
  }

  /// The limits of `--offline-codes` and `--offline-age`.
  func offlineLimits() throws(CommandError) -> OfflineLimits {
    let limits = OfflineLimits(
      codes: self[OTPAdd.offlineCodes].map { UInt32(clamping: $0) },
      seconds: self[OTPAdd.offlineAge].map { UInt32(clamping: $0) })
    guard limits.isNone || self[OTPAdd.role] != .verifier else {
      throw .usage("--offline-codes and --offline-age are for provers: a verifier makes no codes")
    }
    return limits
  }
}
