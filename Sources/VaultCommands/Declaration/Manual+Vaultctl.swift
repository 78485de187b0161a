import CommandLineKit
import VaultKit

extension Manual {
  /// What the help and `vaultctl(1)` say of the tool as a whole.
  static let vaultctl = Manual(
    summary: "keep secrets in a vault on this machine",
    purpose: "Keeps secrets in a vault on this machine: passwords, one-time-password credentials, keys.",
    description: [
      "vaultctl keeps passwords, one-time-password credentials and other secrets in one file that is sealed "
        + "under a device key and, where a passcode is set, under that passcode as well.",
      "Results go to standard output. Everything else goes to standard error, with the prefix vaultctl:.",
    ],
    sections: [environment, json, log],
    examples: ["vaultctl add mail -g", "vaultctl get mail -c"], daily: daily, secrets: secrets,
    firstStep: "'vaultctl init' makes a vault", firstVerb: "init")

  /// How the short help says it. Each is a verb of the table.
  private static let daily: [(usage: String, text: String)] = [
    ("get NAME [FIELD]", "print the password, or another part; -c copies it"),
    ("show NAME", "show everything; on a terminal, NAME alone does"),
    ("add NAME", "store an entry; -g generates the password"),
    ("edit NAME", "change an entry, in your editor or by options"),
    ("ls [TEXT]", "list entries"),
    ("find TEXT", "find entries by a piece of what they have"),
    ("code NAME", "print a one-time code"),
    ("rm NAME", "put an entry into the trash"),
    ("run -- PROGRAM", "run a program with secrets"),
    ("unlock", "unlock the vault for later commands"),
  ]

  private static let secrets = [
    "A secret is never an argument and never in the environment. Each has one channel: "
      + "an option --...-fd N that names an open descriptor, or --...-file PATH that names your own file of mode 0600 or 0400. "
      + "Without such an option, the terminal is asked. A secret that is data is read from standard input. "
      + "From a descriptor everything is read to its end, and one final newline is dropped: vaultctl get mail --passcode-fd 3 3<FILE.",
    "At most 1024 bytes are read for a passcode, phrase or code, and 1 MiB for the secret of an item; "
      + "a new name is 1 to 255 bytes of UTF-8 whose characters all show, another text at most 4096 without control characters.",
  ]

  private static let environment = Section(
    "ENVIRONMENT",
    .list([
      ("VAULTCTL_PATH", "The vault, where --vault is not given."),
      ("VAULTCTL_DEVICE_KEY", "The device key file, where --device-key is not given."),
      ("VAULTCTL_AGENT", "Whether the agent runs commands, as --agent says it, where that is not given."),
      ("VAULTCTL_PINENTRY", "The absolute path of the pinentry that asks; else the one of the system."),
      (
        "PAGER",
        "The command that shows a long help on a terminal; else less, if it is there. Empty or cat shows none."
      ),
      (
        "XDG_RUNTIME_DIR",
        "Where the agent's socket is, in a directory vaultctl of mode 0700; else in /run/user/UID."
      ),
      ("XDG_DATA_HOME", "Holds vaultctl/default.vault; else ~/.local/share."),
      ("XDG_STATE_HOME", "Holds the device keys, below vaultctl; else ~/.local/state."),
      (
        "CREDENTIALS_DIRECTORY", "Where systemd puts vaultctl.passcode, used when no option gives a passcode."
      ),
      (
        FormerVariable.all.map(\.name).joined(separator: ", "),
        "The names of before the first release: one that is set ends each command with 2."
      ),
    ]))

  private static let log = Section(
    "LOG",
    .text([
      "With --log each step that the tags name is a line on standard error: "
        + "time process[pid:tid] [TAG] [LEVEL] File.line : text. The tags are VAULT_STORAGE, VAULT_ACCESS, AUTH_FLOW, AUTH_HTTP, "
        + "AUTH_OAUTH and AUTH_CRYPTO; the beginning of tags names them all. Names and addresses are masked, unless --log-unmasked "
        + "is given; secrets and codes are in no line."
    ]))

  private static let json = Section(
    "JSON",
    .text([
      "With --json each command prints one object on one line; bytes are base64 under names that end in Base64, "
        + "a member that does not apply is absent. What a person would be warned of, such as a vault file that is an older state or a "
        + "clock that is behind, is in warnings, a list of sentences. An error is {\"error\":{\"code\":...,\"exit\":...,\"message\":...}} on standard error, "
        + "with attemptsLeft, retryAfter (seconds) and hint where they apply. Its member recovery is retryable, with the condition "
        + "after, whenUnlocked, whenOnline, whenSynchronized or whenSomebodyIsThere, or startOver, or nonRecoverable."
    ]))
}
