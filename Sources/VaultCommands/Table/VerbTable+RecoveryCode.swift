/// The verbs about the recovery code.
extension VerbTable {
  static var recoveryCode: [Verb] { [recoveryCodeNew, recoveryCodeCheck, recoveryCodeRemove] }

  private static var recoveryCodeNew: Verb {
    Verb(
      words: ["recovery-code", "new"],
      summary: "Make a recovery code. The one of before works until the new one does.",
      ownOptions: [
        Option(
          "out", .path, "FILE",
          "Write the code to a new file of mode 0600 instead of showing it on the terminal.")
      ],
      session: .unlocked, audited: .always, ownExits: [.alreadyExists, .refused],
      notes: [
        "The code is shown on the terminal itself, never on standard output, and its last two groups are asked for: only then "
          + "does it become the vault's. Without a terminal that is 6. After three wrong answers (5), or any other "
          + "error, what was shown opens nothing and the code of before works as it did.",
        "With --out the file is on the disk before the code works. It is removed again when nothing was changed. Where the disk "
          + "fails in the middle of the change, or the machine, either code may be the valid one: 'vaultctl recovery-code check' tells.",
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
        "It needs no device key and no passcode: it opens what 'rotate device-key' would. A code that does not open this "
          + "vault is 3, what is no recovery code at all is 12. With --json: valid."
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
        "A copy of the vault file from before, with the code, still opens as it did: rotate the epoch, and what is stored "
          + "later stays shut to both. With --json: recoveryCode."
      ],
      example: "vaultctl recovery-code remove", allowedInBatch: false, run: runRecoveryCodeRemove)
  }
}
