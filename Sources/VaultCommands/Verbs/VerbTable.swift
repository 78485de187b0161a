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
    manual: .vaultctl,
    refusal: CommandError.refusal)

  package static var all: [any VaultVerb.Type] { families.flatMap(\.verbs) }

  package static func verb(_ words: [String]) -> (any VaultVerb.Type)? {
    families.first { $0.word == words.first }?.verbs.first { $0.words == words }
  }

  private static let families: [(word: String, summary: String, verbs: [any VaultVerb.Type])] = [
    ("init", "Create a vault and its device key.", [Init.self]),
    ("status", "Show the state of the vault.", [Status.self]),
    ("doctor", "Look for weaknesses, and say what to do.", [Doctor.self]),
    ("unlock", "Unlock the vault in the agent, for later commands.", [Unlock.self]),
    ("lock", "Lock the vault in the agent.", [Lock.self]),
    (
      "agent", "The agent, which keeps a vault unlocked for a while.",
      [AgentBegin.self, AgentEnd.self, AgentShowStatus.self]
    ),
    (
      "grant", "What programs may do again without asking, in the agent or the keeper.",
      [GrantList.self, GrantRevoke.self]
    ),
    (
      "keeper", "The keeper, which has the vault under a user id of its own.",
      [KeeperAdopt.self, KeeperLeave.self, KeeperSettle.self, KeeperStatus.self]
    ),
    ("verify", "Open and compare every part of the vault.", [Verify.self]),
    ("version", "Print the versions of vaultctl and the format.", [PrintVersion.self]),
    ("path", "Print where the vault is.", [PrintPath.self]),
    (
      "passcode", "Set, change or remove the passcode.",
      [PasscodeSet.self, PasscodeChange.self, PasscodeRemove.self]
    ),
    (
      "recovery-code", "Make, check or remove the recovery code.",
      [RecoveryCodeNew.self, RecoveryCodeCheck.self, RecoveryCodeRemove.self]
    ),
    (
      "item", "Store secrets and read them back.",
      [
        ItemAdd.self, ItemGet.self, ItemShow.self, ItemList.self, ItemFind.self, ItemUpdate.self,
        ItemEdit.self,
        ItemRename.self, ItemHistory.self, ItemRestore.self, ItemUndo.self, ItemRemove.self,
        ItemTrashList.self, ItemTrashRestore.self, ItemTrashEmpty.self,
      ]
    ),
    ("exec", "Run a program with secrets from the vault.", [Exec.self]),
    ("inject", "Print a template with values from the vault in it.", [Inject.self]),
    (
      "otp", "One-time-password credentials and their codes.",
      [
        OTPAdd.self, OTPCode.self, OTPVerify.self, OTPResync.self, OTPConfirm.self, OTPSync.self,
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
      "biometry", "Members of the enrolled biometric set.",
      [BiometryEnroll.self, BiometryList.self, BiometryRemove.self]
    ),
    (
      "biokey", "Biokeys, which members open in place of a PIN.",
      [BiokeyRegister.self, BiokeyList.self, BiokeyReset.self]
    ),
    (
      "key", "Keys that sign, and their certificates.",
      [
        KeyGenerate.self, KeyImport.self, KeyList.self, KeyPublic.self, KeySign.self, KeyVerify.self,
        KeyRemove.self,
      ]
    ),
    ("jwt", "Tokens that a client key signs.", [JWTSign.self, JWTVerify.self]),
    ("dpop", "Print a proof for one request that its sender has a key.", [PrintProof.self]),
    (
      "token", "Card tokens: short-lived, with a number of uses.",
      [TokenPut.self, TokenGet.self, TokenList.self, TokenRevoke.self, TokenPurge.self]
    ),
    ("session", "Sessions to which card tokens belong.", [SessionOpen.self, SessionClose.self]),
    (
      "consent", "Consents to card tokens, by a challenge and a code.",
      [ConsentRequest.self, ConsentConfirm.self, ConsentResend.self, ConsentList.self]
    ),
    (
      "oauth", "Clients of OAuth servers, and the tokens that they get.",
      [
        OAuthRegister.self, OAuthToken.self, OAuthDevice.self, OAuthRefresh.self, OAuthRevoke.self,
        OAuthAuthorizeHeader.self,
      ]
    ),
    ("import", "Import items from another program.", [Import.self]),
    ("export", "Export items for another program.", [Export.self]),
    ("backup", "Write a backup that a passphrase opens.", [Backup.self]),
    ("restore", "Restore a vault from a backup.", [Restore.self]),
    (
      "rotate", "Replace keys or parameters.",
      [RotateDeviceKey.self, RotateEpoch.self, RotateParameters.self]
    ),
    ("purge", "Make deleted items unreadable for good.", [Purge.self]),
    ("audit", "Show the log of the vault.", [Audit.self]),
    ("clock", "Show the recorded time, by which items expire.", [ShowClock.self]),
    ("batch", "Run several commands with one unlock.", [Batch.self]),
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
