import CommandLineKit

/// The verbs about the recovery code.
extension VerbTable {
  static var recoveryCode: [Verb] { [recoveryCodeNew, recoveryCodeCheck, recoveryCodeRemove] }

  private static var recoveryCodeNew: Verb {
    Verb(
      words: ["recovery-code", "new"],
      summary: "Make a recovery code. The old one works until the new one does.",
      ownOptions: [
        Option(
          "out", .path, "FILE",
          "Write the code to a new file of mode 0600 instead of showing it on the terminal.")
      ],
      session: .unlocked, audited: .always, ownExits: [.alreadyExists, .refused],
      notes: [
        "The code is shown on the terminal itself, never on standard output. It becomes valid when you type its last two groups. "
          + "Without a terminal the command exits with 6. After three wrong answers (5), or any other error, the code that was "
          + "shown opens nothing, and the old one works as before.",
        "With --out the file is on the disk before the code works. It is removed again when nothing was changed. When the disk or the "
          + "machine fails during the change, either code may be the valid one: 'vaultctl recovery-code check' tells which.",
        "With --json: recoveryCode, replaced (whether there was one before), and file where --out named one.",
      ],
      example: "vaultctl recovery-code new --out code", allowedInBatch: false, run: runRecoveryCodeNew)
  }

  private static var recoveryCodeCheck: Verb {
    Verb(
      words: ["recovery-code", "check"],
      summary: "Check whether a recovery code opens the vault. Changes nothing.",
      channels: [.recovery],
      notes: [
        "It needs no device key and no passcode. The exit code is 3 when the code does not open this vault, and 12 when the text "
          + "is not a recovery code at all. With --json: valid."
      ],
      example: "vaultctl recovery-code check --recovery-file code", allowedInBatch: false,
      run: runRecoveryCodeCheck)
  }

  private static var recoveryCodeRemove: Verb {
    Verb(
      words: ["recovery-code", "remove"],
      summary: "Remove the recovery code: it no longer opens the vault.",
      session: .unlocked, audited: .always, ownExits: [.refused],
      notes: [
        "The code still opens older copies of the vault file. After 'vaultctl rotate epoch', the code and such a copy together "
          + "do not open what is stored later. With --json: recoveryCode."
      ],
      example: "vaultctl recovery-code remove", allowedInBatch: false, run: runRecoveryCodeRemove)
  }
}
