package import CommandLineKit
import TextFormats

/// One verb of `vaultctl`: what the parser accepts and what help, man page and completion say.
package struct Verb: Sendable {
  /// What standard input is to the verb.
  package enum StandardInput: Sendable {
    case unused
    /// Data, byte for byte; the word says what it is.
    case data(String)
    /// Text whose one final newline is dropped; the word says what it is.
    case line(String)
  }

  /// What the verb needs of the vault.
  package enum Session: Sendable {
    case noVault
    case vault
    case unlocked
  }

  /// What the verb leaves in the audit.
  package enum Audited: Sendable {
    case never
    case always
    /// Only for items made with `--audit all`.
    case onRequest
  }

  /// What may stand in place of NAME.
  package enum Target: Sendable {
    case none
    /// `--service` with `--account`, or `--id`.
    case full
    /// `--id` alone, because the verb uses the other two for new values.
    case identifier
  }

  /// The words that call it: `["item", "add"]`.
  package let words: [String]
  package let summary: String
  package var arguments: [Argument] = []
  /// What may stand in place of NAME.
  package var target = Target.none
  package var ownOptions: [Option] = []
  package var channels: [SecretChannel] = []
  package var standardInput = StandardInput.unused
  package var session = Session.vault
  /// Asks by the flags of the item (`--access`), not only for the passcode.
  package var asksByFlags = false
  package var audited = Audited.never
  package var ownExits: [ExitCode] = []
  package var notes: [String] = []
  package var example: String
  package var allowedInBatch = true
  /// Changes files although it is not audited itself: a batch runs other verbs, the doctor removes old keys.
  package var changesFiles = false
  /// The option without which it changes no file while nobody is at a terminal.
  package var changingOption: String?
  /// Options that it does not have although a person may expect them, with what to do instead.
  package var absentOptions: [String: String] = [:]
  package var run: @Sendable (Command) throws -> Outcome

  package var name: String { words.joined(separator: " ") }
  /// Whether it may change a vault, a device key or another file. The torture tests cover each such verb.
  package var writes: Bool { audited != .never || changesFiles }
}

extension Verb {
  /// All options in the order of the help: own, target, secrets, common.
  package var options: [Option] {
    ownOptions + targetOptions + allChannels.flatMap(\.options) + Self.common
  }

  var readsStandardInput: Bool {
    if case .unused = standardInput { false } else { true }
  }

  var allChannels: [SecretChannel] {
    let unlocking: [SecretChannel] = session == .unlocked ? [.passcode, .recovery] : []
    return unlocking + channels.filter { !unlocking.contains($0) }
  }

  package var exitCodes: [ExitCode] {
    var codes: Set<ExitCode> = [.done, .usage, .io, .interrupted]
    if session != .noVault { codes.formUnion([.refused, .damaged, .deviceKey, .noVault, .unsupported]) }
    if session == .unlocked || !channels.isEmpty {
      codes.formUnion([.authenticationFailed, .blocked, .cancelled, .interactionNotAllowed, .malformed])
    }
    if target != .none { codes.formUnion([.notFound, .malformed]) }
    if readsStandardInput { codes.formUnion([.malformed, .cancelled, .interactionNotAllowed]) }
    return (codes.union(ownExits)).sorted()
  }

  package var usage: String {
    (["vaultctl", name] + arguments.map(\.usage) + ["[options]"]).joined(separator: " ")
  }

  private var targetOptions: [Option] {
    switch target {
    case .none: []
    case .full: Self.fullTarget
    case .identifier: [Self.fullTarget[2]]
    }
  }

  private static let fullTarget: [Option] = [
    Option("service", .text, "S", "With --account, in place of NAME: the item of this service."),
    Option("account", .text, "A", "With --service, in place of NAME: the item of this account."),
    Option("id", .identifier, "ID", "In place of NAME: the item's id, 32 hexadecimal digits."),
  ]

  /// Understood by every verb, also before its name.
  package static let common: [Option] = [
    Option(
      "vault", .path, "PATH",
      "The vault; else $VAULT_PATH, else $XDG_DATA_HOME/vault/default.vault."),
    Option(
      "device-key", .path, "PATH", "The device key file; else $VAULT_DEVICE_KEY, else the standard place."),
    .flag("json", "Print one JSON object on standard output, an error as one on standard error."),
    Option(
      "prompt", .choice(["auto", "terminal", "pinentry", "none"]), "",
      "Who asks for a secret that was not given; auto: the terminal in its foreground, else pinentry.",
      defaultValue: "auto"),
    .flag("no-input", "Never ask: the same as --prompt none."),
    .flag("help", "Print this help."),
  ]
}

/// The verbs that begin with one word.
package struct VerbFamily: Sendable {
  package let word: String
  package let summary: String
  /// Made when asked for, so that a start pays for one family only.
  package let verbs: @Sendable () -> [Verb]
}
