import CommandLineKit
import VaultKit

/// Options that several verbs about items have.
enum ItemOptions {
  static let name = Argument("NAME", .name, "The name, 1 to 255 bytes without control characters.")
  static let newName = newName("NAME")

  static func newName(_ name: String) -> Argument {
    Argument(name, .newName, "The new name, 1 to 255 bytes of characters that show.")
  }

  static let service = Setting(
    "service", .text, "S", "What the secret is for. Empty when not given. Can be read without the passcode.")
  static let account = Setting(
    "account", short: "u", .text, "A",
    "Whose secret it is. NAME when not given. Can be read without the passcode.")
  static let label = Setting("label", .text, "L", "A label for people. Can be read without the passcode.")
  static let comment = Setting(
    "comment", .text, "C", "A remark for people. Public: can be read without the passcode. Notes are sealed.")
  static let attributes = [service, account, label, comment]

  static let yes = Flag(
    "yes", short: "yf", "Do not ask before what cannot be undone. Only a terminal is asked.")
  static let now = Flag("now", "Delete it at once: not into the trash, from which it would come back.")
  static let allowWeak = Flag(
    "allow-weak", "Also store what a server chose too weak: a secret under 80 bits, codes of 4 or 5 digits.")
  static let thisDeviceOnly = Flag("this-device-only", "Never put it into a backup.")
  static let access = Setting(
    "access", .constraints, "FLAGS", "What a person must show before the secret is read: a comma list.")
  static let audit = Setting(
    "audit", .auditPolicy, "", "What is audited: changes, or reads too.", defaultValue: "changes")
  static let generate = Setting(
    "generate", short: "g", .generator, "LENGTH[:alnum|all|words|hex]",
    "Generate the secret: LENGTH characters, 24 without a value, or words from a list of 2,048. Standard input is not read.",
    defaultValue: "24", valueIsOptional: true)

  /// When the secret can be read. The verbs explain it in their own words.
  static func accessible(_ summary: String) -> Setting<Accessibility> {
    Setting(
      "accessible",
      .choice([
        "when-unlocked": .whenUnlocked, "after-first-unlock": .afterFirstUnlock,
        "when-passcode-set": .whenPasscodeSet,
      ]), "", summary, defaultValue: "when-unlocked")
  }

  /// What keeps a device key.
  static func protector(_ summary: String, defaultValue: String) -> Setting<ProtectorKind> {
    Setting(
      "protector", .choice(["file": .file, "secret-service": .secretService]), "", summary,
      defaultValue: defaultValue)
  }

  static let format = Setting(
    "format", .choice(["table": ListFormat.table, "name": .name, "id": .id]), "", "What a line shows.",
    defaultValue: "table")

  /// What a line of a list shows.
  enum ListFormat {
    case table
    case name
    case id
  }

  /// What an item's access rule may ask for, besides the passcode.
  static let accessChannels: [SecretChannel] = [.phrase, .applicationPassword]

  static let copy = Setting(
    "copy", short: "c", .duration, "TIME",
    "Copy to the clipboard instead of printing. After TIME (30s without a value), clear the clipboard if it still has the secret.",
    defaultValue: "30s", valueIsOptional: true)

  static let copyNote =
    "--copy uses wl-copy under Wayland, xclip or xsel under X11, and else asks the terminal (OSC 52). Without any "
    + "of them the exit code is 9 and nothing is copied. The secret goes through a pipe. wl-copy keeps it in a "
    + "private file in /tmp as long as it is in the clipboard: when /tmp is on a disk, the others are tried first, and "
    + "a message says so. A terminal does not "
    + "report what its clipboard holds, so it is cleared in any case. With --json: copied, clipboard, and "
    + "clearedAfter in seconds."
}
