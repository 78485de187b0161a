import CommandLineKit

/// The verbs about the enrolled set.
extension VerbTable {
  static var biometry: [Verb] { [biometryEnroll, biometryList, biometryRemove] }

  private static var member: Argument {
    Argument(name: "MEMBER", summary: "The name of a member.", kind: .name)
  }

  private static var biometryEnroll: Verb {
    Verb(
      words: ["biometry", "enroll"],
      summary: "Enroll a phrase in the place of a finger, the fingers of the reader, or the login password.",
      arguments: [member.optional],
      ownOptions: [
        Option(
          "source", .choice(["phrase", "fingerprint", "login"]), "",
          "phrase: typed, and a key. fingerprint: the fingers that fprintd knows, and no others. login: what PAM asks for, as "
            + "presence alone. The latter two are advisory in this process, and take no MEMBER.",
          defaultValue: "phrase")
      ],
      channels: [.passcode, .recovery, .phrase], audited: .always, ownExits: [.alreadyExists, .refused],
      notes: [
        "It needs the passcode. With a phrase or a finger the set is another one from then on: items stored with --access biometry-current-set before "
          + "can be opened by nobody any more, and are named. Five wrong phrases lock biometry until the passcode was right."
      ],
      example: "vaultctl biometry enroll voice --passcode-file old --phrase-file phrase",
      run: runBiometryEnroll)
  }

  private static var biometryList: Verb {
    Verb(
      words: ["biometry", "list"], summary: "List the members of the set.",
      example: "vaultctl biometry list --json", run: runBiometryList)
  }

  private static var biometryRemove: Verb {
    Verb(
      words: ["biometry", "remove"], summary: "Remove a member of the set. It is not asked about.",
      arguments: [member], audited: .always, ownExits: [.notFound, .refused],
      notes: [
        "It works while the vault is locked. The set is another one from then on, as with 'biometry enroll', unless the member was "
          + "the login password."
      ],
      example: "vaultctl biometry remove voice", run: runBiometryRemove)
  }
}
