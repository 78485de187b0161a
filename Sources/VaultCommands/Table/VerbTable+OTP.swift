import CommandLineKit

/// The verbs about one-time-password credentials.
extension VerbTable {
  static var oneTimePassword: [Verb] {
    [
      otpAdd, otpCode, otpVerify, otpResync, otpConfirm, otpCounter, otpList, otpShow, otpExport, otpRemove,
    ]
  }

  private static var otpAdd: Verb {
    Verb(
      words: ["otp", "add"], summary: "Store a credential from an otpauth:// URI.", arguments: [.newName()],
      ownOptions: [
        Option(
          "role", .choice(["prover", "verifier"]), "", "A prover makes codes, a verifier checks them.",
          defaultValue: "prover"),
        Option(
          "accessible", .choice(["when-unlocked", "after-first-unlock", "when-passcode-set"]), "",
          "When codes can be made or checked.", defaultValue: "when-unlocked"),
        .flag("this-device-only", "Never put it into a backup."),
        accessOption,
        Option("audit", .choice(["changes", "all"]), "", "What of it is audited.", defaultValue: "changes"),
      ],
      channels: [.applicationPassword], standardInput: .line("otpauth:// URI"), session: .unlocked,
      audited: .always,
      ownExits: [.alreadyExists, .refused],
      notes: ["The URI never stands on the command line, where every program could read it."],
      example:
        "printf %s 'otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0' | vaultctl otp add rfc",
      run: runOTPAdd)
  }

  private static var otpCode: Verb {
    Verb(
      words: ["otp", "code"], summary: "Print the next code. A counter is on disk before its code is shown.",
      arguments: [.name()], target: .full,
      ownOptions: [
        Option("at", .instant, "T", "The code of this moment; changes nothing stored. TOTP only."),
        .flag("next", "The code of the next period. TOTP only."),
        Option(
          "min-remaining", .number(0...86400), "S",
          "Wait for the next code when this one is valid for less than S seconds. TOTP only."),
        copyOption,
      ],
      channels: accessChannels, session: .unlocked, asksByFlags: true, audited: .always,
      ownExits: [.expired, .refused, .outOfStep],
      notes: ["A TOTP code changes nothing and is audited only for items made with --audit all.", copyNote],
      example: "vaultctl otp code rfc --json", run: runOTPCode)
  }

  private static var otpVerify: Verb {
    Verb(
      words: ["otp", "verify"], summary: "Check a code by a verifier's credential. A code is accepted once.",
      arguments: [.name()], target: .full,
      channels: accessChannels, standardInput: .line("code"), session: .unlocked, asksByFlags: true,
      audited: .always,
      ownExits: [.expired, .refused, .outOfStep],
      example: "printf 755224 | vaultctl otp verify door", run: runOTPVerify)
  }

  private static var otpResync: Verb {
    Verb(
      words: ["otp", "resync"],
      summary: "Let a verifier find the counter or clock of the other side again, by two codes in a row.",
      arguments: [.name()], target: .full, channels: accessChannels,
      standardInput: .line("two codes, each on a line of its own"), session: .unlocked, asksByFlags: true,
      audited: .always, ownExits: [.expired, .refused, .outOfStep],
      notes: ["A prover is put right by 'otp counter NAME --set N', with N from its server."],
      example: "printf '287082\\n359152\\n' | vaultctl otp resync door", run: runOTPResync)
  }

  private static var otpConfirm: Verb {
    Verb(
      words: ["otp", "confirm"], summary: "Say that the server took the last code.", arguments: [.name()],
      target: .full, audited: .always, ownExits: [.refused],
      notes: [
        "It ends a change of a camouflaged PIN; a credential without such a PIN has nothing to confirm (9)."
      ],
      example: "vaultctl otp confirm rfc", run: runOTPConfirm)
  }

  private static var otpCounter: Verb {
    Verb(
      words: ["otp", "counter"], summary: "Show the counter of a HOTP credential, or set it.",
      arguments: [.name()], target: .full,
      ownOptions: [
        Option("set", .number(0...UInt64.max), "N", "The counter of the next code."),
        .flag("force", "Also to a counter that was used before: codes will repeat."),
      ],
      channels: [.passcode, .recovery] + accessChannels, asksByFlags: true, audited: .always,
      ownExits: [.refused], example: "vaultctl otp counter rfc --set 100",
      run: runOTPCounter)
  }

  private static var otpList: Verb {
    Verb(
      words: ["otp", "list"], summary: "List the credentials.",
      ownOptions: [
        Option("format", .choice(["table", "name", "id"]), "", "What a line shows.", defaultValue: "table")
      ],
      example: "vaultctl otp list --json", run: runOTPList)
  }

  private static var otpShow: Verb {
    Verb(
      words: ["otp", "show"], summary: "Show everything about a credential but its secret.",
      arguments: [.name()],
      target: .full, example: "vaultctl otp show rfc", run: runOTPShow)
  }

  private static var otpExport: Verb {
    Verb(
      words: ["otp", "export"], summary: "Print the otpauth:// URI of a credential: its secret in clear.",
      arguments: [.name()], target: .full, channels: accessChannels, session: .unlocked, asksByFlags: true,
      audited: .always, ownExits: [.expired, .refused], example: "vaultctl otp export rfc", run: runOTPExport)
  }

  private static var otpRemove: Verb {
    Verb(
      words: ["otp", "rm"], summary: "Delete a credential. It is not asked about.", arguments: [.name()],
      target: .full, audited: .always, example: "vaultctl otp rm rfc", run: runOTPRemove)
  }
}
