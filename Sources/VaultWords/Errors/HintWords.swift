package import VaultKit

/// The sentence of `vaultctl` for what a hint of the library advises, with the verb or the option that does it.
///
/// The module words the library for the command line. The library knows no verb, no option and no exit code; the rooms
/// of the tool share what is said here, so that one value or error has one wording in every verb.
///
/// `Errors/` turns each error into a `CommandError`: `CommandError+Vault.swift` has the exit code for each code of a
/// `VaultError`, `CommandError+Describing.swift` takes any error, and `ExitCode+Vault.swift` lists the exit codes,
/// which never change. A hint of the library is a value; this type has its sentence.
///
/// The other files have the words of options and listings (`ItemKind.word`, `Constraints.shown`), an item as JSON and
/// as lines, and ``Names``, which checks the names that a person gives. ``printable(_:)`` makes a text harmless for a
/// terminal.
///
/// Read `Errors/ExitCode+Vault.swift` first, then `Errors/CommandError+Vault.swift`, then this file.
package enum HintWords {
  /// The tool's sentence for a hint. For a hint without an action, the library's own sentence.
  package static func sentence(for hint: Hint) -> String {
    guard let action = hint.action else { return hint.sentence }
    // Otherwise it would look like advice of this program.
    if action == .followServer { return "the server says: \(hint.sentence)" }
    if action == .removeExpiry { return removingExpiry(of: hint.subject.flatMap(plainName) ?? "NAME") }
    if action == .closeKeyFile, let path = hint.subject { return closingKeyFile(path) }
    return words[action] ?? hint.sentence
  }

  /// - Parameter item: What names the item on a command line.
  package static func removingExpiry(of item: String) -> String {
    "remove the expiry with 'vaultctl item edit \(item) --no-expiry'"
  }

  /// The name, if a shell and the parser take it as it is.
  package static func plainName(_ name: String) -> String? {
    let isPlain = { (byte: UInt8) in
      0x30...0x39 ~= byte || 0x41...0x5A ~= byte || 0x61...0x7A ~= byte || "._@/+-".utf8.contains(byte)
    }
    return !name.isEmpty && name.utf8.first != UInt8(ascii: "-") && name.utf8.allSatisfy(isPlain) ? name : nil
  }

  private static func closingKeyFile(_ path: String) -> String {
    "chmod 600 \(path); if others have read it, make a new key with 'vaultctl rotate device-key'"
  }

  private static let words = [vault, damage, people, deviceKey, components, servers, cards, clients].reduce(
    into: [:]) {
      $0.merge($1) { first, _ in first }
    }

  private static let vault: [Hint.Action: String] = [
    .createVault: "make one with 'vaultctl init', or name another path with --vault",
    .createRealVault: "make a real one with 'vaultctl init'",
    .nameOtherVault: "choose another path with --vault",
    .nameVault: "name your vault with --vault; if it was at this path, restore it from a backup",
    .nameVaultFile: "name a file with --vault",
    .setVaultPath: "name one with --vault or VAULT_PATH",
    .moveVaultHome:
      "if it is your vault, move it into your home and let only yourself read it; else name another with --vault",
    .exportWithOldProgram:
      "docs/guides/backup-and-recovery.md says which commit that is, and what an export leaves out",
    .useNewerVersion: "open it with the version of vaultctl that made it",
    .freeSpace: """
    free some space and try again; if only the vault is on that disk: 'vaultctl backup' to another disk, and \
    'vaultctl restore' there
    """,
    .listItems: "'vaultctl item list' shows the names",
    .removeExpiry: removingExpiry(of: "NAME"),
  ]

  private static let damage: [Hint.Action: String] = [
    .verifyAndRestore: "run 'vaultctl verify' and restore from a backup",
    .rotateEpoch: "run 'vaultctl rotate epoch'",
    .acceptDamage: """
    the file was altered outside of this program: restore it from a backup; or accept the rows that are left with \
    'vaultctl rotate epoch --drop-damaged'
    """,
    .renewVaultState: """
    'vaultctl rotate epoch --drop-damaged' makes it again; where a passcode is set give it the recovery code too \
    (--recovery-file), or restore the vault from a backup
    """,
    .dropDamaged: "'--drop-damaged' removes what does not open; or restore the vault from a backup",
    .resumeRotation: """
    the vault works meanwhile; 'vaultctl rotate epoch --drop-damaged' removes what does not open, \
    'vaultctl item rm --id ID' one item
    """,
    .rotateWithNewerVersion: """
    rotate with the newer version that made this, which '--drop-damaged' never removes; \
    'vaultctl item rm --id ID' removes one item, and a restore from a backup leaves the log behind
    """,
    .purgeAgain: "when that process has ended, run 'vaultctl purge' again",
    .nameBackup: "name a file made by 'vaultctl backup'",
    .restoreBackup: "restore it with 'vaultctl restore'",
    .restoreElsewhere: "restore to another path with --vault PATH",
  ]

  private static let people: [Hint.Action: String] = [
    .setPasscode: "set one with 'vaultctl passcode set'",
    .setPasscodeFirst: "run 'vaultctl passcode set' first",
    .changePasscode: "change it with 'vaultctl passcode change'",
    .makeRecoveryCode: "make one with 'vaultctl recovery-code new'",
    .listMembers: "'vaultctl biometry list' shows the members",
    .enrollMember: "enroll one with 'vaultctl biometry enroll MEMBER'",
    .removeMember: "choose another name, or remove that member first with 'vaultctl biometry remove'",
    .enrollFingersAgain: """
    put the fingers of the set back on the reader, or enrol them again with \
    'vaultctl biometry enroll --source fingerprint': items of the set as it was then stay closed
    """,
  ]

  private static let deviceKey: [Hint.Action: String] = [
    .setKeyFolder: "set HOME or XDG_STATE_HOME, or name the key file with --device-key",
    .nameKey: "name your device key with --device-key",
    .nameRightKey: "name the right one with --device-key, or use the recovery code",
    .nameKeyOfRightSize:
      "the file is no device key, which has 32 bytes: name your device key with --device-key",
    .moveKeyHome: """
    if it is your device key, move it into your home and let only yourself read it; \
    else name your device key with --device-key
    """,
    .putKeyBack: "put its copy back, name it with --device-key, or use the recovery code or a backup",
    .putKeyCopyBack: "put it back from a copy with --device-key, or use the recovery code",
    .putRightKeyBack: "put the right one back from a copy with --device-key, or use the recovery code",
    .openKeyCollection:
      "open the collection that it is in, name a copy with --device-key, or use the recovery code or a backup",
    .keepKeyInFile: "keep the key in a file: --protector file",
    .nameOtherKeyPlace: "name another place with --device-key",
    .nameOtherKeyFolder: "name another folder with --device-key",
    .nameOtherKeyFile: "name another file with --device-key, or move that one away",
    .nameOtherKeyFileOrRemove: """
    name another file with --device-key; where an 'init' that was interrupted has left this one, and no vault \
    was made with it, remove it
    """,
    .removeOldKey:
      "the old key no longer opens this vault; remove it with 'vaultctl doctor --remove-old-keys'",
    .removeOldKeys:
      "if you do not need that file, move it away, then run 'vaultctl doctor --remove-old-keys'",
  ]

  private static let components: [Hint.Action: String] = [
    .useCredential: "use 'vaultctl otp code', or 'vaultctl otp export' to take it out",
    .usePIN: "use 'vaultctl pin verify' or 'vaultctl pin change'",
    .unlockPIN: "run 'vaultctl pin unlock' with the unlock key of the PIN",
    .registerBiokey: "register it again with 'vaultctl biokey register', which asks for the PIN",
    .manageBiokeys: "use 'vaultctl biokey list' or 'vaultctl biokey reset'",
    .addWithComponent:
      "use 'vaultctl otp add' for a credential, 'vaultctl pin set' for a PIN, 'vaultctl key generate' for a key",
    .deleteWithPIN: "'vaultctl item list' shows them; delete them first",
    .listCredentials: "the item of that name is of another kind; 'vaultctl otp list' shows the credentials",
    .setCounter: "ask the server for its counter and set it with 'vaultctl otp counter NAME --set N'",
    .forceCounter: "add --force if the server really is behind",
    .makeCode: "use 'vaultctl otp code'",
    .verifyCode: "use 'vaultctl otp verify'",
    .signQuestion: "use 'vaultctl transaction sign'; of a verifier 'vaultctl transaction verify'",
    .verifySignature: "use 'vaultctl transaction verify'",
    .listTransactions: "'vaultctl transaction list' shows them",
    .receiveTransactions: "'vaultctl transaction list --transport PROGRAM' tells the server",
    .acceptAgain: "run 'vaultctl transaction accept' again: the server gets the code when the PIN is given",
    .signWithKey: "use 'vaultctl key sign'; 'vaultctl key public' prints the public half",
    .listKeys: "'vaultctl key list' shows the keys",
    .convertKeyFile: """
    convert a copy in a folder of memory, import that and delete it: 'openssl pkcs8 -topk8' and \
    'openssl pkcs12 -legacy' serve, and of an OpenSSH key 'ssh-keygen -p -N ""' takes the passphrase off
    """,
    .exportItems: "export the items of the vault with 'vaultctl export jsonl FILE --plain'",
    .addSuite: "add one with 'vaultctl otp add --suite', or use 'vaultctl otp code' or 'vaultctl otp verify'",
    .allowWeak: """
    compare it with what the service shows; where the service chose a short secret, or codes of 4 or 5 digits, --allow-weak \
    stores it, and any other length needs another program
    """,
  ]

  private static let servers: [Hint.Action: String] = [
    .activateCredential: "start an activation with 'vaultctl otp activate start' and a code of the server",
    .guardWithPIN: "name a PIN item with --pin, or have one made with --pin-mode",
    .finishActivation: "run 'vaultctl otp activate finish' with the second code of the server",
    .unlockCredential: "run 'vaultctl pin unlock --transport PROGRAM' with a code of the server",
    .beginUnlock: "have the server send a new code with 'vaultctl pin unlock --start --transport PROGRAM'",
    .disableCredential: """
    'vaultctl otp sync' asks again; if the server removed this device, 'vaultctl otp activate disable NAME --force' ends the \
    credential here, and a new activation replaces it
    """,
    .synchronize: "run 'vaultctl otp sync --transport PROGRAM'",
    .showCredentialStatus: "'vaultctl otp activate status' shows it",
  ]

  private static let cards: [Hint.Action: String] = [
    .takeToken: "use 'vaultctl token get'",
    .storeToken: "store a new one with 'vaultctl token put', or confirm a consent for it",
    .giveSession: "give its session with --session-fd N or --session-file PATH",
    .requestConsent: "request a new one with 'vaultctl consent request'",
    .confirmConsent: "run 'vaultctl consent confirm' with the new code",
  ]

  private static let clients: [Hint.Action: String] = [
    .registerClient:
      "register with 'vaultctl oauth register'; a registration that is there is deleted first with 'vaultctl item rm'",
    .requestTokens: "get new ones with 'vaultctl oauth token'",
    .refreshTokens: "run 'vaultctl oauth refresh'",
    .giveClient: """
    register the client at the server by hand, and give it here: 'vaultctl oauth register NAME --client-id ID', with \
    --client-secret-fd N if it has a secret
    """,
    .nameIssuer: "if that is the server that you mean, give the name that it calls itself with --url",
    .nameEndpoints:
      "if the server does not describe itself, give --client-id with --token-endpoint and --authorization-endpoint",
    .useAuthorizationCode:
      "use 'vaultctl oauth token NAME --grant authorization_code': its address opens in a browser of any machine",
    .refreshOnce: """
    the server may have used the refresh token up: run 'vaultctl oauth refresh' once more, and if that is refused, get new tokens \
    with 'vaultctl oauth token'
    """,
    .deleteTokens: """
    'vaultctl item list --json' shows the id of the set; delete it with 'vaultctl item rm --id ID', then get new ones with \
    'vaultctl oauth token'
    """,
    .authorizeRequest: "use 'vaultctl oauth authorize-header'",
    .bindTokens: "give a key with 'vaultctl oauth token … --dpop KEY'",
    .requestUnboundTokens:
      "if tokens that anybody can use will do, get new ones with 'vaultctl oauth token' without --dpop",
  ]
}
