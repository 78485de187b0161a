import CommandLineKit
import TextFormats

/// The verbs about the vault as a whole.
extension VerbTable {
  static var initialize: Verb {
    Verb(
      words: ["init"], summary: "Make a vault and its device key. Nothing else ever creates one.",
      ownOptions: [
        Option(
          "protector", .choice(["file", "secret-service"]), "", "What keeps the device key.",
          defaultValue: "file"),
        .flag("no-passcode", "Guard the vault by its device key alone."),
        .flag("recovery-code", "Make a recovery code and show it once."),
        .flag("no-recovery-code", "Do not offer to make a recovery code on the terminal."),
      ],
      channels: [.passcode], session: .noVault, audited: .always,
      ownExits: [.alreadyExists, .deviceKey, .malformed],
      notes: [
        guessable + " With --json: passcodeGuessable.",
        "The device key is never in the folder of the vault. Whoever loses it, and has neither a recovery code nor "
          + "a backup, loses everything in the vault: copy it to a safe place.",
        "On a terminal, init offers to make a recovery code as 'recovery-code new' does. --recovery-code prints one with the result, "
          + "just before the vault gets its name: when the command fails after that, the code opens the vault if there is one. "
          + "When standard output cannot be written, nothing is made (13).",
        "With --protector secret-service the desktop's keyring keeps it, in its default collection. Where that is locked, "
          + "does not answer or is not there, nothing is made (11); nothing is kept in a file instead.",
      ],
      example: "vaultctl init --no-passcode --recovery-code", allowedInBatch: false, run: runInit)
  }

  private static let guessable =
    "A passcode that can be guessed is accepted with a warning, which names about how many bits it has. From 64 bits on there is none: "
    + "six random words have 66."

  static var status: Verb {
    Verb(
      words: ["status"], summary: "Show where the vault is, what guards it and how much is in it.",
      notes: [
        "After wrong passcodes it shows until when none is accepted.",
        "With --json also, where they apply: passcodeFailures (wrong passcodes in a row), lockedOutUntil (Unix seconds, until which no "
          + "passcode is accepted), biometryLocked (true until a right passcode), rotation (underWay or paused) while the keys of two "
          + "epochs are in force, and damaged, the number of items that do not open.",
      ],
      example: "vaultctl status --json", run: runStatus)
  }

  static var doctor: Verb {
    Verb(
      words: ["doctor"], summary: "Look for what weakens the vault or this machine, and say what to do.",
      ownOptions: [
        .flag(
          "remove-old-keys", "Remove device keys that this vault has replaced, without asking.")
      ],
      channels: [.passcode],
      notes: [
        "It asks for nothing. With the passcode it also says whether the passcode can be guessed.",
        "It looks at locked memory, core dumps, swap, the clock, libraries, PAM and its helper, the passcode, the recovery "
          + "code, "
          + "protector and device key, permissions, the file system, counters and expired items.",
        "Warnings do not change the exit code; a vault that cannot be opened does. With --json: warnings and "
          + "problems (how many), and items with check, state (ok, warning or problem), message and hint.",
        "A device key that this vault has replaced is still there when its removal failed. It is listed with its file, and on a "
          + "terminal doctor asks whether to delete it; --remove-old-keys deletes it without asking. Both first open the vault with "
          + "the present key. Copies of the vault file from the time of the deleted key no longer open. A key that "
          + "PATH.before-restore or PATH.restoring-KEYID names stays. While such a file cannot be read, all replaced keys stay. When a "
          + "key that was to be removed stays for that reason or because its removal failed, the exit code is 13.",
        "A device key that no file is known to name is listed and never deleted: a backup that was restored elsewhere has the "
          + "same vault id, and its key is in the same place. So are KEY.before-restore, which a restore leaves beside a named key "
          + "file, and folders of keys of other vault ids, as an 'init' that failed leaves one.",
      ],
      example: "vaultctl doctor", changesFiles: true, changingOption: "remove-old-keys", run: runDoctor)
  }

  static var verify: Verb {
    Verb(
      words: ["verify"],
      summary: "Open every part of the vault, compare the sums, and report what is damaged.",
      ownOptions: [
        .flag("complete", "Fail (6) when something was not looked at, such as secrets that stay locked.")
      ],
      channels: [.passcode], ownExits: [.unsupported],
      notes: [
        "verify does not ask for the passcode. Without the passcode, where one is set, it does not open the secrets that the "
          + "passcode guards, and does not check the chain of the audit. It never opens secrets behind an access rule. The report has a line for each of "
          + "these, and says that everything is sound only when there is no such line.",
        "The exit code of --complete is 6, interaction needed: verify would have to ask for the passcode, or for what an access rule "
          + "demands. Damage (10) and parts of a newer version (15) come first. A vault that has items behind access rules is never "
          + "verified completely.",
        "What a newer version of this program made does not open here, and is not called damaged. The exit code is 15 when verify "
          + "finds only such parts, and 10 when something is damaged.",
        "With --json: sound (nothing that was looked at is damaged), complete (everything was looked at), items, secrets and "
          + "auditEntries (how many were opened), lockedSecrets and guardedSecrets (how many were not opened, without the passcode or "
          + "behind an access rule), auditChainChecked, and problems and newer, a line for each part.",
      ],
      example: "vaultctl verify --json", run: runVerify)
  }

  static var version: Verb {
    Verb(
      words: ["version"], summary: "Print the version of vaultctl and of the vault format it writes.",
      session: .noVault, example: "vaultctl version", run: runVersion)
  }

  static var path: Verb {
    Verb(
      words: ["path"], summary: "Print the path of the vault, whether it exists or not.", session: .noVault,
      example: "vaultctl path", run: runPath)
  }

  static var passcode: [Verb] {
    [
      Verb(
        words: ["passcode", "set"], summary: "Set a passcode where there is none.",
        ownOptions: [
          .flag("drop-recovery-code", "Drop the recovery code of the vault: it no longer works.")
        ],
        channels: [.newPasscode, .recovery], audited: .always, ownExits: [.alreadyExists, .refused],
        notes: [
          "While a vault has no passcode, anybody who has its file and its device key can plant members and keys in it. So this "
            + "command forgets members, factors and the audit roots of later segments, and lists what it forgot.",
          "When the vault has a recovery code, you are asked for it. The right code stays valid; a wrong one exits with 3 and changes "
            + "nothing. An empty answer, or --drop-recovery-code, drops the code. Without a terminal one of the options must be given (else 9).",
          guessable,
          "With --json: passcode, passcodeGuessable, and forgot with members, factors, auditRoots and recoveryCode.",
        ],
        example: "printf %s 'correct horse' | vaultctl passcode set --new-passcode-fd 0",
        allowedInBatch: false, run: runPasscodeSet),
      Verb(
        words: ["passcode", "change"], summary: "Exchange the passcode for a new one; no item is rewritten.",
        channels: [.newPasscode], session: .unlocked, audited: .always, ownExits: [.refused],
        notes: [guessable + " With --json: passcode and passcodeGuessable."],
        example: "vaultctl passcode change --passcode-fd 3 --new-passcode-fd 4 3<old 4<new",
        allowedInBatch: false, run: runPasscodeChange),
      Verb(
        words: ["passcode", "remove"],
        summary: "Remove the passcode. Items stored with --accessible when-passcode-set are destroyed.",
        session: .unlocked, audited: .always, ownExits: [.refused],
        notes: ["The items that are destroyed are listed in the result."],
        example: "vaultctl passcode remove --passcode-fd 3 3<old", allowedInBatch: false,
        run: runPasscodeRemove),
    ]
  }

  static var audit: Verb {
    Verb(
      words: ["audit"], summary: "Show the entries of the audit, oldest first.",
      ownOptions: [
        Option(
          "since", .past, "T",
          "Only entries from this moment on: Unix seconds, RFC 3339, or how long ago, like 1h."),
        Option("item", .name, "NAME", "Only entries about this item."),
        .flag("follow", "Go on and print new entries as they come, until Ctrl-C."),
        .flag("verify", "Check the chain of every entry; asks for the passcode where one is set."),
      ],
      channels: [.passcode], ownExits: [.notFound, .unsupported],
      notes: [
        "Entries that do not open are named on standard error, and the others are shown (10, or 15 when a newer version of this "
          + "program made them). With --json: items, and unreadable, the numbers of such entries.",
        "The whole log is compared with what the vault says of it, whatever part is shown: when entries are missing in the middle or at "
          + "the end, one line says so (10). With --json: whole, true or false.",
        "promptShown: a person was asked; its outcome is answered, cancelled, signal or timeout, beside the name of the secret and in "
          + "--json. given: the secret came from a file, a descriptor or a credential, and no person was asked.",
        "Entries are shown without the passcode; only --verify needs it. "
          + "With --follow and --json each entry is one object on a line of its own.",
      ],
      example: "vaultctl audit --since 1h", run: runAudit)
  }

  static var batch: Verb {
    Verb(
      words: ["batch"],
      summary: "Run commands from standard input, one JSON object on each line, with one unlock.",
      ownOptions: [.flag("keep-going", "Go on after a command that failed.")],
      standardInput: .data("commands"), session: .unlocked,
      ownExits: [.notFound, .alreadyExists, .refused, .expired, .unsupported, .outOfStep],
      notes: [
        "A line is {\"args\":[\"item\",\"add\",\"mail\"],\"stdin\":\"...\"}, or \"stdinBase64\" in place of \"stdin\". "
          + "Each command is answered by one line: {\"exit\":0,\"result\":{...}} or {\"exit\":1,\"error\":{...}}. "
          + "The batch ends at the first failure, or with --keep-going at the end, with the exit code of the first failure."
      ],
      example: "printf '%s\\n' '{\"args\":[\"item\",\"list\"]}' '{\"args\":[\"status\"]}' | vaultctl batch",
      allowedInBatch: false, changesFiles: true, run: runBatch)
  }

  static var completion: Verb {
    Verb(
      words: ["completion"], summary: "Print the completion script of a shell.",
      arguments: [
        Argument(name: "SHELL", summary: "bash, zsh or fish.", kind: .choice(["bash", "zsh", "fish"]))
      ],
      session: .noVault, example: "vaultctl completion bash > vaultctl.bash", allowedInBatch: false,
      run: runCompletion)
  }
}
