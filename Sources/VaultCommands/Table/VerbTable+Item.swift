import CommandLineKit

/// The verbs about items.
extension VerbTable {
  static var item: [Verb] {
    [itemAdd, itemGet, itemShow, itemList, itemUpdate, itemEdit, itemRename, itemRemove]
  }

  static let accessOption = Option(
    "access",
    .choices([
      "passcode", "presence", "biometry-any", "biometry-current-set", "application-password", "or", "and",
    ]), "FLAGS", "What has to be shown before the secret is read, a comma list."
  )
  /// What an item's access rule may ask for, besides the passcode.
  static let accessChannels: [SecretChannel] = [.phrase, .applicationPassword]

  static let copyOption = Option(
    "copy", .duration, "TIME",
    "Put it into the clipboard and print nothing; cleared after TIME, 30s when left out, if it is still there.",
    defaultValue: "30s"
  ).optionalValue

  static let copyNote =
    "--copy uses wl-copy under Wayland, xclip or xsel under X11, and else asks the terminal (OSC 52); where none "
    + "of them is there it is exit 9 and nothing is copied. The secret goes through a pipe. wl-copy keeps it in a "
    + "private file in /tmp as long as it is in the clipboard: where /tmp is on a disk the others go first, and "
    + "you are told. A terminal does not "
    + "tell what its clipboard holds, so there it is cleared whatever it is. With --json: copied, clipboard, and "
    + "clearedAfter in seconds."

  static let attributeOptions: [Option] = [
    Option("service", .text, "S", "What the secret is for. Empty when not given."),
    Option("account", .text, "A", "Whose secret it is. NAME when not given."),
    Option("label", .text, "L", "A line for people."),
    Option("comment", .text, "C", "A remark for people."),
  ]

  private static var itemAdd: Verb {
    Verb(
      words: ["item", "add"], summary: "Store a secret under a name.", arguments: [.newName()],
      ownOptions: attributeOptions + [
        Option(
          "accessible", .choice(["when-unlocked", "after-first-unlock", "when-passcode-set"]), "",
          "When the secret can be read.", defaultValue: "when-unlocked"),
        .flag("this-device-only", "Never put it into a backup."),
        accessOption,
        Option("audit", .choice(["changes", "all"]), "", "What of it is audited.", defaultValue: "changes"),
        Option("expires", .duration, "D", "Refuse it after this time from now."),
        Option(
          "generate", .generator, "LENGTH[:alnum|all|words|hex]",
          "Make the secret: so many characters, or words of a list of 2,048. Nothing is read then."),
      ],
      channels: [.applicationPassword], standardInput: .data("secret"), session: .unlocked, audited: .always,
      ownExits: [.alreadyExists, .refused],
      notes: [
        "--access passcode asks for the passcode at each use, presence for the passcode, a member or the login password, biometry-any and "
          + "biometry-current-set for a member's phrase or finger ('vaultctl biometry enroll'), application-password for a password of "
          + "the item's own. Two of them need 'and', or 'or' where one is enough. 'item show' says what enforces each.",
        "A generated secret is printed by 'item get', not by 'item add', which says how many bits it has. "
          + "Two items with the same service and account are refused as duplicates.",
        "A newline at the end of the data is a part of the secret. When the secret is one line with a newline, a message says so; "
          + "'printf %s' writes none.",
        "after-first-unlock items open with the device key alone, also while the vault is locked.",
      ],
      example: "vaultctl item add mail --account me@example.org --generate 24", run: runItemAdd)
  }

  private static var itemGet: Verb {
    Verb(
      words: ["item", "get"], summary: "Print the secret of an item, byte for byte.", arguments: [.name()],
      target: .full,
      ownOptions: [
        Option(
          "field", .choice(["secret", "name", "service", "account", "label", "comment", "id"]), "",
          "Print this field instead.", defaultValue: "secret"),
        copyOption,
      ],
      channels: accessChannels, session: .unlocked, asksByFlags: true, audited: .onRequest,
      ownExits: [.expired, .refused],
      notes: [
        "On a terminal a newline follows the secret, anywhere else nothing does. With --json the secret is "
          + "secretBase64, and also secret where it is UTF-8 text.",
        copyNote,
      ],
      example: "vaultctl item get mail", run: runItemGet)
  }

  private static var itemShow: Verb {
    Verb(
      words: ["item", "show"], summary: "Show everything about an item but its secret.", arguments: [.name()],
      target: .full, example: "vaultctl item show mail", run: runItemShow)
  }

  private static var itemList: Verb {
    Verb(
      words: ["item", "list"], summary: "List items, without their secrets.",
      ownOptions: [
        Option("service", .text, "S", "Only items of this service."),
        Option(
          "kind", .choice(["password", "otp", "pin", "biokey", "token", "key", "consent"]), "",
          "Only items of this kind."),
        Option("format", .choice(["table", "name", "id"]), "", "What a line shows.", defaultValue: "table"),
      ],
      ownExits: [.unsupported],
      notes: [
        "Items that do not open are named in the error, and the others are listed (10, or 15 when a newer version of this program "
          + "made them)."
      ],
      example: "vaultctl item list --kind password --json", run: runItemList)
  }

  private static var itemUpdate: Verb {
    Verb(
      words: ["item", "update"], summary: "Exchange the secret of an item.", arguments: [.name()],
      target: .full,
      ownOptions: [
        Option(
          "generate", .generator, "LENGTH[:alnum|all|words|hex]",
          "Make the secret: so many characters, or words of a list of 2,048. Nothing is read then.")
      ],
      channels: accessChannels, standardInput: .data("secret"), session: .unlocked, asksByFlags: true,
      audited: .always, ownExits: [.refused],
      example: "vaultctl item update mail --generate 32:all", run: runItemUpdate)
  }

  private static var itemEdit: Verb {
    Verb(
      words: ["item", "edit"], summary: "Change what is said about an item; its secret stays.",
      arguments: [.name()], target: .identifier,
      ownOptions: attributeOptions + [
        Option("expires", .duration, "D", "Refuse it after this time from now."),
        .flag("no-expiry", "Let it live for ever."),
        Option(
          "audit", .choice(["changes", "all"]), "", "What of it is audited from now on: plain reads too?"),
      ],
      channels: [.passcode, .recovery] + accessChannels, asksByFlags: true, audited: .always,
      ownExits: [.alreadyExists, .refused],
      notes: [
        "--accessible, --this-device-only and --access cannot be changed, because the secret is sealed for them. "
          + storeAgain
      ],
      example: "vaultctl item edit mail --label 'Mail of the family'",
      absentOptions: ["accessible": storeAgain, "this-device-only": storeAgain, "access": storeAgain],
      run: runItemEdit)
  }

  private static let storeAgain =
    "To change them, store the secret again: 'vaultctl item get NAME | vaultctl item add NEW --accessible CLASS', then remove NAME and "
    + "rename NEW."

  private static var itemRename: Verb {
    Verb(
      words: ["item", "rename"], summary: "Give an item another name.",
      arguments: [.name(), .newName("NEW")], target: .full,
      channels: [.passcode, .recovery] + accessChannels, asksByFlags: true, audited: .always,
      ownExits: [.alreadyExists], example: "vaultctl item rename mail post",
      run: runItemRename)
  }

  private static var itemRemove: Verb {
    Verb(
      words: ["item", "rm"], summary: "Delete an item of any kind. It is not asked about.",
      arguments: [.name()],
      target: .full, audited: .always,
      notes: [
        "With --id it also removes an item that does not open, because it is damaged or a newer version made it; 'vaultctl verify' "
          + "names such items."
      ],
      example: "vaultctl item rm mail", run: runItemRemove)
  }
}
