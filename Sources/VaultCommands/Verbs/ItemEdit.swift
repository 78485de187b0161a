import CommandLineKit
import VaultKit
import VaultWords

/// `vaultctl edit NAME`.
enum ItemEdit: VaultVerb {
  static let words = ["edit"]
  static let summary = "Change an entry: its password, attributes, notes, fields and addresses."
  static let arguments = [ItemOptions.name]
  static let target = Target.identifier
  static let audit = Setting(
    "audit", .auditPolicy, "", "What is audited from now on: changes, or reads too.")
  static let set = Settings(
    "set", .longText, "KEY=VALUE",
    "Set account, service, label, comment, url or field:NAME, or add the tag of tag=TAG. VALUE is on the command line."
  )
  static let unset = Settings(
    "unset", .text, "KEY",
    "Remove account, service, label, comment, notes, url, password, field:NAME, all tags by tag, or one by tag=TAG."
  )
  static let editor = Flag(
    "editor", short: "e",
    "Change all of it in $VISUAL, else $EDITOR, else vi: in a file in memory, of which nothing stays. On a terminal the same as no option."
  )
  static let password = Flag(
    "password", "Replace the password by what standard input has; a terminal is asked for it.")
  static let forget = Flag(
    "forget", "Forget the former versions of the entry, and the password that is replaced now.")
  static let ownOptions: [any OptionKey] =
    [password, ItemOptions.generate, set, unset, editor] + ItemOptions.attributes + [EntryOptions.tag]
    + EntryOptions.sealed
    + [ExpiryOptions.expires, ExpiryOptions.never, ExpiryOptions.rule, audit, forget, ItemOptions.yes]
  static let channels = [.passcode, .recovery] + ItemOptions.accessChannels
  static let standardInput = StandardInput.data("new password, with --password")
  static let passcodeCase: String? =
    "where one is set, for anything but --label and --comment, and the item is not of --accessible after-first-unlock"
  static let asksByFlags = true
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.alreadyExists, .expired, .refused, .cancelled]
  static let notes = [
    EntryOptions.publicNote, EntryOptions.limitsNote,
    "--password and --generate keep all else. An expiry that has passed was that of the old password, and is removed; --expires gives the new "
      + "one an expiry. With --forget no former version stays, and a terminal is asked once.",
    "--set url=URL and --url replace all addresses by those that are given. --tag adds a tag. --account, --service, --label and --comment say "
      + "the same as --set; an empty value removes. Hidden values never come by an argument: --field-fd, --field-file or --editor give them. "
      + "What the entry kept before stays as a former version ('history').",
    "--editor opens the file in a directory of mode 0700 on a tmpfs or ramfs: $XDG_RUNTIME_DIR, else /dev/shm, else it ends with 9. "
      + "vim, nvim, nano and emacs load no configuration, and get options against swap files, backups, undo files and histories; any other editor finds HOME and "
      + "TMPDIR in that directory, which is overwritten and removed when it ends. An editor that returns at once needs an option like --wait. "
      + "Of a text that cannot be read, the line and the reason are named, and on a terminal it can be edited again (else 12). If the entry was "
      + "changed meanwhile, the text is not stored (13), and on a terminal it can be edited again.",
    "--accessible, --this-device-only and --access cannot be changed, because the secret is sealed for them. "
      + storeAgain,
    ExpiryOptions.note,
    "With --json: what 'show' has, changed where a part of the entry, a tag, account, service, label or comment was to be changed, and "
      + "entropyBits of a generated password.",
  ]
  static let examples = [
    "vaultctl edit mail --label 'Mail of the family' --set account=anna",
    "vaultctl edit mail -g 32",
  ]
  static let absentOptions = ["accessible": storeAgain, "this-device-only": storeAgain, "access": storeAgain]
  private static let storeAgain =
    "To change them, store the secret again: 'vaultctl get NAME | vaultctl add NEW --accessible CLASS', then remove NAME and "
    + "rename NEW."

  static func needsPerson(_ invocation: Invocation) -> Bool {
    let loosening: [any OptionKey] = [
      ExpiryOptions.expires, ExpiryOptions.never, ExpiryOptions.rule, audit,
    ]
    return loosening.contains { invocation.has($0) }
  }

  static func run(_ command: Command) throws -> Outcome {
    let edit = try ItemChange(command)
    guard edit.isEmpty else {
      guard !command[editor] else {
        throw CommandError.usage(
          "--editor stands alone", hint: "change the rest in the editor, or by a second command")
      }
      return try edit.run(command)
    }
    guard command[editor] || command.isTyped && command.isOnTerminal else {
      throw CommandError.usage(
        "nothing to change",
        hint:
          "give --password, --generate, --set KEY=VALUE, --unset KEY or --editor, or --label, --comment, --service, --account, --expires, "
          + "--no-expiry, --expiry or --audit; on a terminal the editor opens without any")
    }
    return try EntryEditing.run(command)
  }
}
