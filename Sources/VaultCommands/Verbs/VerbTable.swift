package import CommandLineKit
import VaultWords

/// The verbs of `vaultctl`, in the order of the help. The parser, the help, the manual pages and the completion are made from
/// their declarations.
package enum VerbTable {
  /// `vaultctl`, as the parser and the help know it.
  package static let program = Program(
    name: "vaultctl",
    families: families.map { family in
      VerbFamily(word: family.word, summary: family.summary, verbs: family.verbs.map { $0 })
    },
    commonOptions: CommonOptions.all, secretOptions: [CommonOptions.deviceKeys], exitCodes: ExitCode.all,
    commonExitCodes: [
      .done, .usage, .io, .interrupted, .refused, .damaged, .deviceKey, .noVault, .unsupported,
    ],
    manual: .vaultctl, vocabulary: { .vaultctl },
    refusal: CommandError.refusal)

  package static var all: [any VaultVerb.Type] { families.flatMap(\.verbs) }

  package static func verb(_ words: [String]) -> (any VaultVerb.Type)? {
    families.first { $0.word == words.first }?.verbs.first { $0.words == words }
  }

  private typealias Family = (word: String, summary: String, verbs: [any VaultVerb.Type])

  private static let families = daily + others

  /// What people do each day, without a noun: each is a verb alone.
  private static let daily: [Family] = [
    ("get", "Print the password of an entry, or another part.", [ItemGet.self]),
    ("show", "Show an entry.", [ItemShow.self]),
    ("code", "Make a one-time code.", [OTPCode.self]),
    ("add", "Add an entry.", [ItemAdd.self]),
    ("edit", "Change an entry.", [ItemEdit.self]),
    ("ls", "List entries.", [ItemList.self]),
    ("find", "Find entries by a piece of what is known of them.", [ItemFind.self]),
    ("cp", "Add a second entry that has all that an entry has.", [ItemCopy.self]),
    ("mv", "Rename an entry.", [ItemRename.self]),
    ("rm", "Remove an entry: it is in the trash for 30 days.", [ItemRemove.self]),
    ("undo", "Take back the last change of an entry, or go back to a version.", [ItemUndo.self]),
    ("history", "List the former versions of an entry.", [ItemHistory.self]),
    ("gen", "Print a generated password, or add an entry with one.", [ItemGenerate.self]),
    ("unlock", "Unlock the vault in the agent, for later commands.", [Unlock.self]),
    ("lock", "Lock the vault in the agent.", [Lock.self]),
    ("run", "Run a program with secrets from the vault.", [Exec.self]),
    ("help", "Explain a command, or find one by what people call it.", [ShowHelp.self]),
    ("read", "Print the value of a reference.", [ReadReference.self]),
    ("inject", "Print a template with values from the vault in it.", [Inject.self]),
    ("import", "Import items from another program.", [Import.self]),
    ("export", "Export items for another program.", [Export.self]),
  ]

  /// Everything else, at most twenty.
  private static let others: [Family] = [
    ("init", "Create a vault and its device key.", [Init.self]),
    ("status", "Show the state of the vault.", [Status.self]),
    (
      "vault", "The vault as a whole: its path, damage, weaknesses, clock and keys.",
      [
        Verify.self, Doctor.self, PrintPath.self, ShowClock.self, Batch.self, Purge.self,
        RotateDeviceKey.self, RotateEpoch.self, RotateParameters.self, PrintVersion.self,
      ]
    ),
    (
      "trash", "What was removed, for 30 days.",
      [ItemTrashList.self, ItemTrashRestore.self, ItemTrashEmpty.self]
    ),
    (
      "passcode", "Set, change or remove the passcode.",
      [PasscodeSet.self, PasscodeChange.self, PasscodeRemove.self]
    ),
    (
      "recovery-code", "Make, verify or remove the recovery code.",
      [RecoveryCodeNew.self, RecoveryCodeCheck.self, RecoveryCodeRemove.self]
    ),
    (
      "agent",
      "The agent, which keeps a vault unlocked for a while, and what programs may do again without asking.",
      [AgentBegin.self, AgentEnd.self, AgentShowStatus.self, GrantList.self, GrantRevoke.self]
    ),
    (
      "keeper", "The keeper, which has the vault under a user id of its own.",
      [KeeperAdopt.self, KeeperLeave.self, KeeperSettle.self, KeeperStatus.self]
    ),
    ("backup", "Write a backup that a passphrase opens.", [Backup.self]),
    ("restore", "Restore a vault from a backup.", [Restore.self]),
    ("audit", "Show the log of the vault.", [Audit.self]),
    (
      "otp", "One-time-password credentials, and servers that judge their codes.",
      [
        OTPAdd.self, OTPVerify.self, OTPResync.self, OTPConfirm.self, OTPSync.self,
        OTPCounter.self, OTPList.self,
        OTPShow.self, OTPExport.self, OTPRemove.self,
        OTPActivateStart.self, OTPActivateFinish.self, OTPActivateStatus.self, OTPActivateDisable.self,
      ]
    ),
    (
      "transaction", "What servers ask to be confirmed, and codes for challenges and data: OCRA.",
      [
        TransactionList.self, TransactionShow.self, TransactionAccept.self, TransactionReject.self,
        TransactionCancel.self, TransactionSign.self, TransactionVerify.self,
      ]
    ),
    (
      "pin", "PINs that guard credentials.",
      [PINSet.self, PINVerify.self, PINChange.self, PINUndo.self, ShowPINStatus.self, PINUnlock.self]
    ),
    (
      "biometry", "Members of the enrolled biometric set, and biokeys, which they open in place of a PIN.",
      [
        BiometryEnroll.self, BiometryList.self, BiometryRemove.self,
        BiokeyRegister.self, BiokeyList.self, BiokeyReset.self,
      ]
    ),
    (
      "key", "Keys that sign, and their certificates.",
      [
        KeyGenerate.self, KeyImport.self, KeyList.self, KeyPublic.self, KeySign.self, KeyVerify.self,
        KeyRemove.self,
      ]
    ),
    (
      "jwt", "Signed tokens of a client key, and proofs that a sender has it.",
      [JWTSign.self, JWTVerify.self, PrintProof.self]
    ),
    (
      "card", "Card tokens, the sessions to which they belong, and consents to them.",
      [
        TokenPut.self, TokenGet.self, TokenList.self, TokenRevoke.self, TokenPurge.self,
        SessionOpen.self, SessionClose.self,
        ConsentRequest.self, ConsentConfirm.self, ConsentResend.self, ConsentList.self,
      ]
    ),
    (
      "oauth", "Clients of OAuth servers, and the tokens that they get.",
      [
        OAuthRegister.self, OAuthToken.self, OAuthDevice.self, OAuthRefresh.self, OAuthRevoke.self,
        OAuthAuthorizeHeader.self,
      ]
    ),
    ("completion", "Print the completion script of a shell.", [PrintCompletion.self]),
  ]
}

extension CommandError {
  /// Refuses a one-time-password URI, `otpauth:` or `otpauth-migration:`, also as the value in `--option=otpauth:…`.
  fileprivate static let refusal: @Sendable (String, Int) -> CommandError? = { argument, number in
    // Also in --field=NAME=VALUE.
    let parts = argument.lowercased().split(separator: "=", maxSplits: 2)
    guard parts.contains(where: { $0.hasPrefix("otpauth:") || $0.hasPrefix("otpauth-migration:") }) else {
      return nil
    }
    return .usage(
      "argument \(number) is a one-time-password URI, and those are secrets",
      hint: "give it on standard input; every program could read it here, so treat it as known to others")
  }
}
