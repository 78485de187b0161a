import CommandLineKit
import TextFormats

/// Verbs of daily use beside those about items.
extension VerbTable {
  static var exec: Verb {
    Verb(
      words: ["exec"], summary: "Become a program that finds secrets in sealed memory files.",
      arguments: [
        Argument(
          name: "PROGRAM", summary: "The program and its words, behind --.", kind: .program, takesRest: true)
      ],
      ownOptions: [
        Option("fd", .text, "N=NAME", "Hand over the secret of NAME as descriptor N: 0, or 3 and more.")
          .repeatable,
        Option(
          "file", .text, "VAR=NAME",
          "Hand over the secret of NAME as a file in memory, whose path is in the variable VAR."
        ).repeatable,
        Option(
          "env", .text, "VAR=NAME",
          "Put the secret of NAME into the variable VAR itself, where every program of the same user can "
            + "read it as long as the program runs."
        ).repeatable,
      ],
      channels: accessChannels, session: .unlocked, asksByFlags: true, audited: .onRequest,
      ownExits: [.notFound, .expired, .refused, .malformed],
      notes: [
        "A memory file is on no disk. Its mode is 0400 and it is sealed: no program can change it. It begins at its first "
          + "byte and can be read again through its path, /proc/self/fd/N. Programs that the program starts inherit it. The path "
          + "does not work in a program that closes descriptors which it did not open, as ssh does: give the key to ssh-add.",
        "vaultctl turns into the program, so its exit code is the program's and signals reach it directly. The "
          + "vault is closed before, and a descriptor that brought the passcode is closed too; others stay "
          + "open. The program leaves no core dump.",
        "A program that cannot be started is exit 13.",
      ],
      example: "vaultctl exec --fd 3=mail -- sh -c 'wc -c <&3'", allowedInBatch: false, run: runExec)
  }

  private static let formatArgument = Argument(
    name: "FORMAT", summary: "jsonl, our own JSON lines.", kind: .choice(["jsonl"]))

  static var importItems: Verb {
    Verb(
      words: ["import"], summary: "Take items over from another program or vault, all or none of them.",
      arguments: [
        formatArgument,
        Argument(name: "FILE", summary: "The file; else standard input.", kind: .path, isRequired: false),
      ],
      ownOptions: [
        .flag("dry-run", "Say what would be done, and do nothing."),
        Option(
          "on-duplicate", .choice(["skip", "rename", "replace", "fail"]), "",
          "What happens to an item whose name, or service and account, is there already.",
          defaultValue: "fail"),
      ],
      standardInput: .data("items, one JSON object on each line"), session: .unlocked, audited: .always,
      ownExits: [.alreadyExists, .malformed, .refused, .unsupported],
      notes: [
        "Everything is read and judged first, and stored in one step: after any error nothing was imported. Each "
          + "line that cannot be read is named with its number and the reason.",
        "A line has kind (password or otp), name, and secret, secretBase64 or, for otp, uri; also service, "
          + "account, label, comment, accessible, thisDeviceOnly, access (as --access of 'item add' takes it, "
          + "without application-password), audit, expires (Unix seconds), role, window, needsResync. created "
          + "and modified are ignored, any other key is an error.",
        "rename puts -2, -3 ... behind the name; replace deletes the old item and stores the new one.",
        "With --json: added, skipped, renamed, replaced, dryRun, and items with line, name, result and, where "
          + "it was renamed, oldName.",
      ],
      example: "vaultctl import jsonl items.jsonl --on-duplicate skip --dry-run", allowedInBatch: false,
      run: runImport)
  }

  static var exportItems: Verb {
    Verb(
      words: ["export"], summary: "Write items out for another program or vault, with their secrets.",
      arguments: [
        formatArgument,
        Argument(
          name: "FILE", summary: "The new file, mode 0600; else standard output.", kind: .path,
          isRequired: false),
      ],
      ownOptions: [.flag("plain", "Agree that every secret is written in clear. jsonl knows no other way.")],
      channels: accessChannels, session: .unlocked, asksByFlags: true, audited: .always,
      ownExits: [.alreadyExists, .refused, .unsupported],
      notes: [
        "What opens by a passphrase is 'vaultctl backup'. Without --plain nothing is written (9).",
        "Left out, and listed: items of this device only, expired ones, kinds that are neither password nor "
          + "one-time-password credential, and items with an access rule where nobody can be asked (promptNeeded), "
          + "whoever was asked declined (declined), or nobody can open them any more (beyondReach). What is left "
          + "out is no error: the exit code is 0. Each item that is written is audited first.",
        "Who an access rule asks for is asked once for all items, for five minutes. A wrong answer ends the export.",
        "FILE is never written over. Standard output must not be a file that others can read (9).",
        "With --json, which needs FILE: path, items (how many), leftOut with id, name and reason.",
      ],
      example: "vaultctl export jsonl items.jsonl --plain", allowedInBatch: false, run: runExport)
  }
}
