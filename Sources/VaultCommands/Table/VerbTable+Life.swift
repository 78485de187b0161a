import CommandLineKit

/// The verbs of a vault's life: backups, new keys, and the end of what was deleted.
extension VerbTable {
  static var backup: Verb {
    Verb(
      words: ["backup"], summary: "Write a backup that opens by a passphrase.",
      arguments: [Argument(name: "FILE", summary: "The new file; nothing is written over.", kind: .path)],
      channels: [.passphrase], audited: .always, ownExits: [.alreadyExists, .refused],
      notes: [
        "Nothing needs to be unlocked: what is behind the passcode is behind it in the backup too. "
          + "Items of this device only, tokens, consents, items that are damaged and do not open, and the audit are left out; "
          + "the items are listed.",
        "A passphrase that can be guessed is accepted with a warning, as a passcode is by 'vaultctl passcode set'.",
        "The backup is opened once with the passphrase and verified before the command ends.",
        "With --json: path, items (how many), leftOut with id, name and reason: thisDeviceOnly, shortLived, damaged or newerVersion; "
          + "and passphraseGuessable.",
      ],
      example: "vaultctl backup monday.vault --passphrase-file phrase", allowedInBatch: false, run: runBackup)
  }

  static var restore: Verb {
    Verb(
      words: ["restore"], summary: "Make a vault from a backup.",
      arguments: [Argument(name: "FILE", summary: "The backup.", kind: .path)],
      ownOptions: [
        Option(
          "protector", .choice(["file", "secret-service"]), "", "What keeps the device key.",
          defaultValue: "the protector of the vault that is replaced, else file"),
        .flag("replace", "Replace the vault that is there with the restored one."),
      ],
      channels: [.passphrase],
      audited: .always, ownExits: [.alreadyExists, .refused, .malformed, .unsupported],
      notes: [
        "The vault gets a new device key. HOTP credentials give no code (17) before 'vaultctl otp counter NAME --set N'.",
        "When the same vault is already there, nothing is changed without --replace (9): the items that only that vault has, and "
          + "that a restore would drop, are listed. Another vault is never replaced (9).",
        "With --replace the larger counters and attempts stay, and the old file is kept as PATH.before-restore. It stays at PATH "
          + "until the new one is complete; then both change names in one step (15 when the file system cannot do that).",
        "The old device key stays too, for the old file: under its own name, or beside a key file that --device-key names as "
          + "KEY.before-restore. 'vaultctl doctor' lists what is left.",
        "A restore that is killed leaves the old vault or the new one at PATH. It can also leave PATH.restoring-KEYID: either a "
          + "new vault that was not used, which the next restore removes, or the old vault, which the next restore renames to "
          + "PATH.before-restore. No device key is deleted.",
        "The recovery code of the backup is valid again when no vault was at PATH, or when the vault there has the same code. When "
          + "it has another code or none, no recovery code works afterwards: make one with 'vaultctl recovery-code new'.",
        "With --json: path, deviceKey, items (how many), countersBehind (how many), and recoveryCode (valid, kept or revoked) "
          + "where there was one; with --replace also oldVault, oldDeviceKey where a file keeps it, and dropped; without it, over a "
          + "vault, only wouldDrop. Both list id, name and kind.",
      ],
      example: "vaultctl restore monday.vault --replace --passphrase-file phrase", allowedInBatch: false,
      run: runRestore)
  }

  static var rotate: [Verb] { [rotateDeviceKey, rotateEpoch, rotateParameters] }

  private static var rotateDeviceKey: Verb {
    Verb(
      words: ["rotate", "device-key"],
      summary:
        "Replace the device key; no item is rewritten. The old key no longer opens this vault file.",
      ownOptions: [
        Option(
          "protector", .choice(["file", "secret-service"]), "", "What keeps the new device key.",
          defaultValue: "what keeps the present one")
      ],
      channels: [.recovery], audited: .always, ownExits: [.refused],
      notes: [
        "The other keys of the vault stay. A person who has the old key and an old copy of the vault file can open both, and with the "
          + "keys in them read later items, as far as those need no passcode. 'vaultctl rotate epoch' replaces these keys too.",
        "The old key is deleted after the new one has opened the vault; it stays when PATH.before-restore or a file of an "
          + "interrupted restore needs it. When the vault cannot be written, no key is made.",
        "Where the device key is lost the recovery code makes a new one. Items of this device only were lost "
          + "with the old key; they are listed. The code is not used where the device key is there.",
        "With --json: recovered, protector, deviceKey where a file keeps it, and lost with id and name after a recovery.",
      ],
      example: "vaultctl rotate device-key", allowedInBatch: false, run: runRotateDeviceKey)
  }

  private static var rotateEpoch: Verb {
    Verb(
      words: ["rotate", "epoch"], summary: "Exchange every key of the vault and seal what they seal anew.",
      ownOptions: [dropDamaged],
      session: .unlocked, audited: .always, ownExits: [.refused, .unsupported],
      notes: [
        "Other programs go on working meanwhile. After an interruption the next command that has the keys continues the rotation. "
          + "This command completes a rotation that is under way, which somebody else may have begun, and then makes another epoch.",
        "First, every part of the vault that opens without a person is opened. Parts that do not open are listed, and no key is "
          + "changed (10). Damage that appears later pauses the rotation (10): the keys of both epochs stay in force, every other "
          + "command works, and this one names the damaged parts.",
        "Parts that a newer version of this program made do not open here either, and are not damaged: they are listed, nothing "
          + "removes them, and the rotation stops in the same way (15). Rotate with the newer version.",
        "Secrets themselves are not exchanged: after a compromise change them where they are used.",
        "With --json: generation (from 1, +1 each time), items (how many), damaged, newer and dropped: lists with id, name where it "
          + "opens, or auditEntry, and what is wrong. With exits 10 and 15 too.",
      ],
      example: "vaultctl rotate epoch", allowedInBatch: false, run: runRotateEpoch)
  }

  private static var dropDamaged: Option {
    .flag(
      "drop-damaged",
      "Remove items and entries of the log that are damaged and do not open, and log each. An item that lacks only rows of the index stays. "
        + "A vault whose rows something else has changed opens with this option, and is sound afterwards."
    )
  }

  private static var rotateParameters: Verb {
    Verb(
      words: ["rotate", "parameters"],
      summary: "Derive the keys of the same passcode anew, at a cost measured on this machine.",
      ownOptions: [
        Option(
          "target", .number(50...10_000), "MS", "How many milliseconds one derivation shall take at most.",
          defaultValue: "500")
      ],
      session: .unlocked, audited: .always, ownExits: [.refused],
      notes: [
        "Memory grows first, to 1 GiB or an eighth of this machine's, then passes, to 16; the choice is never below the "
          + "parameters that a new vault gets. Every machine that opens the vault needs that memory.",
        "With --json: memoryKiB, passes, lanes and milliseconds of Argon2id as it is now, and the same in before.",
      ],
      example: "vaultctl rotate parameters --passcode-file old", allowedInBatch: false,
      run: runRotateParameters)
  }

  static var purge: Verb {
    Verb(
      words: ["purge"], summary: "Make what was deleted unreadable: new keys, and a file written anew.",
      ownOptions: [dropDamaged],
      session: .unlocked, audited: .always, ownExits: [.refused, .unsupported],
      notes: [
        purgePromise,
        "It begins as 'vaultctl rotate epoch' does: parts that do not open are listed, and nothing is changed (10, or 15 for parts "
          + "that a newer version of this program made).",
        "With --json: generation, promise, oldKeysRemoved (how many), damaged, newer and dropped as of 'rotate epoch'.",
      ],
      example: "vaultctl purge", allowedInBatch: false, run: runPurge)
  }
}
