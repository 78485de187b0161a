import CommandLineKit
import VaultLogging

/// The options of every verb.
enum CommonOptions {
  /// Who asks for a secret.
  enum Asking: String {
    case auto
    case terminal
    case pinentry
    case none
  }

  static let vault = Setting(
    "vault", .path, "PATH", "The vault; else $VAULTCTL_PATH, else $XDG_DATA_HOME/vaultctl/default.vault.")
  static let deviceKey = Setting(
    "device-key", .path, "PATH",
    "The device key file; else $VAULTCTL_DEVICE_KEY, else $CREDENTIALS_DIRECTORY/vaultctl.device-key, else the standard place."
  )
  static let deviceKeyDescriptor = Setting(
    "device-key-fd", .descriptor, "N", "Read the device key from descriptor N, which may be a pipe.")
  static let deviceKeys = SecretOptions(
    title: "device key", descriptor: deviceKeyDescriptor, file: deviceKey)
  static let json = Flag(
    "json", short: "j", "Print one JSON object on standard output, an error as one on standard error.")
  static let prompt = Setting(
    "prompt",
    .choice([
      "auto": Asking.auto, "terminal": Asking.terminal, "pinentry": Asking.pinentry, "none": Asking.none,
    ]), "",
    "Who asks for a secret that was not given; auto: the terminal in its foreground, else pinentry.",
    defaultValue: "auto")
  /// Only of verbs that can ask a person.
  static let reason = Setting(
    "reason", .reason, "TEXT", "Why, in your words: a prompt shows it as what the command says of itself.")
  static let noInput = Flag("no-input", short: "q", "Never ask: the same as --prompt none.")
  static let agent = Setting(
    "agent",
    .choice(["auto": AgentChoice.auto, "never": .never, "required": .required]), "",
    "Whether the agent runs it, where it can; auto: if one is running; else $VAULTCTL_AGENT.",
    defaultValue: "auto")
  static let log = Setting(
    "log", .logTags, "TAGS",
    "Log to standard error: a comma list of tags or their beginnings, such as AUTH,VAULT_ACCESS.")
  static let logLevel = Setting(
    "log-level",
    .choice([
      "error": VaultLog.Level.error, "warning": .warning, "info": .info, "debug": .debug,
    ]), "", "The least important level of --log.", defaultValue: "info")
  static let logUnmasked = Flag("log-unmasked", "Show names and addresses in the lines of --log.")
  static let help = Flag(
    "help", "Print the whole help of a command; -h prints the most important on one screen.")

  static let all: [any OptionKey] = [
    vault, deviceKey, deviceKeyDescriptor, json, prompt, noInput, agent, log, logLevel, logUnmasked, help,
  ]
}

extension Invocation {
  /// Who asks for a secret that was not given.
  var asking: CommonOptions.Asking {
    self[CommonOptions.noInput] ? .none : self[CommonOptions.prompt] ?? .auto
  }

  var mayPrompt: Bool { asking != .none }
}
