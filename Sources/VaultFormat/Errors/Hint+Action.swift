extension Hint {
  /// What a hint advises. The set is open, so that a new action breaks no program. The raw value is the name of the
  /// action.
  public struct Action: RawRepresentable, Hashable, Sendable {
    /// The name of the action.
    public let rawValue: String
    /// The action with this name.
    public init(rawValue: String) { self.rawValue = rawValue }

    // MARK: The vault and its path

    /// Make a vault, or name another path.
    public static let createVault = Action(rawValue: "createVault")
    /// Make another vault, without a test: the keys of this one may be cheap or predictable.
    public static let createRealVault = Action(rawValue: "createRealVault")
    /// Choose another path for the vault.
    public static let nameOtherVault = Action(rawValue: "nameOtherVault")
    /// Name the vault, or restore it where it was.
    public static let nameVault = Action(rawValue: "nameVault")
    /// Name a file for the vault.
    public static let nameVaultFile = Action(rawValue: "nameVaultFile")
    /// Name a vault, or set the variable that names one.
    public static let setVaultPath = Action(rawValue: "setVaultPath")
    /// Move the vault into the user's home, or name another.
    public static let moveVaultHome = Action(rawValue: "moveVaultHome")
    /// Open it with the commit that is the subject, export its items, and import them here.
    public static let exportWithOldProgram = Action(rawValue: "exportWithOldProgram")
    /// Open it with the newer version that made it.
    public static let useNewerVersion = Action(rawValue: "useNewerVersion")
    /// Free some space on the disk of the vault, or make a backup on another disk and restore it there.
    public static let freeSpace = Action(rawValue: "freeSpace")
    /// List the items for their names.
    public static let listItems = Action(rawValue: "listItems")
    /// Remove the expiry of the item, or store a new one.
    public static let removeExpiry = Action(rawValue: "removeExpiry")

    // MARK: Damage, rotation and backups

    /// Verify the vault, and restore it from a backup.
    public static let verifyAndRestore = Action(rawValue: "verifyAndRestore")
    /// Rotate the epoch.
    public static let rotateEpoch = Action(rawValue: "rotateEpoch")
    /// Restore the vault from a backup, or accept the rows that are left.
    public static let acceptDamage = Action(rawValue: "acceptDamage")
    /// Recreate the vault's own state, or restore the vault from a backup.
    public static let renewVaultState = Action(rawValue: "renewVaultState")
    /// Remove the parts that do not open in this rotation, or restore the vault from a backup.
    public static let dropDamaged = Action(rawValue: "dropDamaged")
    /// Remove the parts that prevent the rotation from continuing.
    public static let resumeRotation = Action(rawValue: "resumeRotation")
    /// Rotate with the newer version that made the parts that do not open here.
    public static let rotateWithNewerVersion = Action(rawValue: "rotateWithNewerVersion")
    /// Purge again when no other process reads the vault.
    public static let purgeAgain = Action(rawValue: "purgeAgain")
    /// Name a backup instead of a vault.
    public static let nameBackup = Action(rawValue: "nameBackup")
    /// Restore the backup to another path.
    public static let restoreElsewhere = Action(rawValue: "restoreElsewhere")
    /// Restore a vault from the backup.
    public static let restoreBackup = Action(rawValue: "restoreBackup")

    // MARK: Passcode, recovery code and members

    /// Set a passcode.
    public static let setPasscode = Action(rawValue: "setPasscode")
    /// Set a passcode, then repeat what was refused.
    public static let setPasscodeFirst = Action(rawValue: "setPasscodeFirst")
    /// Change the passcode instead of setting one.
    public static let changePasscode = Action(rawValue: "changePasscode")
    /// Make a recovery code.
    public static let makeRecoveryCode = Action(rawValue: "makeRecoveryCode")
    /// List the members of the enrolled set.
    public static let listMembers = Action(rawValue: "listMembers")
    /// Enroll a member.
    public static let enrollMember = Action(rawValue: "enrollMember")
    /// Remove the member that has the name, or choose another name.
    public static let removeMember = Action(rawValue: "removeMember")
    /// Enroll the fingers of the reader again.
    public static let enrollFingersAgain = Action(rawValue: "enrollFingersAgain")

    // MARK: Device keys

    /// Set the variable that names the directory of keys, or name the key file.
    public static let setKeyFolder = Action(rawValue: "setKeyFolder")
    /// Name the device key.
    public static let nameKey = Action(rawValue: "nameKey")
    /// Name the right device key, or use the recovery code.
    public static let nameRightKey = Action(rawValue: "nameRightKey")
    /// Name a device key: the file does not have the size of one.
    public static let nameKeyOfRightSize = Action(rawValue: "nameKeyOfRightSize")
    /// Move the device key into the user's home, or name another.
    public static let moveKeyHome = Action(rawValue: "moveKeyHome")
    /// Let only the owner read the key file, whose path is the subject.
    public static let closeKeyFile = Action(rawValue: "closeKeyFile")
    /// Put the key file back, or name its copy.
    public static let putKeyBack = Action(rawValue: "putKeyBack")
    /// Put a copy of the device key in the place of the damaged one.
    public static let putKeyCopyBack = Action(rawValue: "putKeyCopyBack")
    /// Put a copy of the right device key in the place of the wrong one.
    public static let putRightKeyBack = Action(rawValue: "putRightKeyBack")
    /// Open the collection of the Secret Service, or name a copy of the device key.
    public static let openKeyCollection = Action(rawValue: "openKeyCollection")
    /// Keep the device key in a file.
    public static let keepKeyInFile = Action(rawValue: "keepKeyInFile")
    /// Name another place for the device key.
    public static let nameOtherKeyPlace = Action(rawValue: "nameOtherKeyPlace")
    /// Name another directory for the device key.
    public static let nameOtherKeyFolder = Action(rawValue: "nameOtherKeyFolder")
    /// Name another key file, or move what is there.
    public static let nameOtherKeyFile = Action(rawValue: "nameOtherKeyFile")
    /// Name another key file, or remove the existing one if no vault was made with it.
    public static let nameOtherKeyFileOrRemove = Action(rawValue: "nameOtherKeyFileOrRemove")
    /// Remove the device key that was replaced.
    public static let removeOldKey = Action(rawValue: "removeOldKey")
    /// Move the file away that prevents the removal of replaced device keys, then remove the keys.
    public static let removeOldKeys = Action(rawValue: "removeOldKeys")

    // MARK: Items of components

    /// Use the PIN instead of reading the item that stores it.
    public static let usePIN = Action(rawValue: "usePIN")
    /// Unlock the PIN with its unlock key.
    public static let unlockPIN = Action(rawValue: "unlockPIN")
    /// List or reset the biokeys instead of reading one.
    public static let manageBiokeys = Action(rawValue: "manageBiokeys")
    /// Add items of this kind as their component does.
    public static let addWithComponent = Action(rawValue: "addWithComponent")
    /// Delete the items behind the PIN too.
    public static let deleteWithPIN = Action(rawValue: "deleteWithPIN")

    // MARK: Client keys

    /// Sign with the key instead of reading it.
    public static let signWithKey = Action(rawValue: "signWithKey")
    /// List the keys for their names.
    public static let listKeys = Action(rawValue: "listKeys")
    /// Write the key to a file with another encryption, or with none, and import that.
    public static let convertKeyFile = Action(rawValue: "convertKeyFile")

    // MARK: Servers

    /// Activate a credential with the code of its server.
    public static let activateCredential = Action(rawValue: "activateCredential")
    /// Finish the activation that is under way, with the second code.
    public static let finishActivation = Action(rawValue: "finishActivation")
    /// Name a PIN that guards the credential, or have one made.
    public static let guardWithPIN = Action(rawValue: "guardWithPIN")
    /// Unlock the credential with a code of its server.
    public static let unlockCredential = Action(rawValue: "unlockCredential")
    /// Have the server begin another unlock: the one that was named is over.
    public static let beginUnlock = Action(rawValue: "beginUnlock")
    /// Disable the credential here, because its server does not know it.
    public static let disableCredential = Action(rawValue: "disableCredential")
    /// Register a biokey, with the PIN.
    public static let registerBiokey = Action(rawValue: "registerBiokey")
    /// Do what the server says, whose words the sentence is.
    public static let followServer = Action(rawValue: "followServer")
    /// Look at the status of the credential.
    public static let showCredentialStatus = Action(rawValue: "showCredentialStatus")
    /// Synchronize the credential with its server.
    public static let synchronize = Action(rawValue: "synchronize")
    /// List the transactions.
    public static let listTransactions = Action(rawValue: "listTransactions")
    /// Ask the server for transactions: it is told what it does not have then.
    public static let receiveTransactions = Action(rawValue: "receiveTransactions")
    /// Accept the transaction again: its code is not stored, and the PIN is needed to tell the server.
    public static let acceptAgain = Action(rawValue: "acceptAgain")

    // MARK: Card tokens and consents

    /// Take the token through its component, instead of reading the item.
    public static let takeToken = Action(rawValue: "takeToken")
    /// Store a new token: the one that was meant has ended.
    public static let storeToken = Action(rawValue: "storeToken")
    /// Give the session to which the token or the consent belongs.
    public static let giveSession = Action(rawValue: "giveSession")
    /// Request a new consent.
    public static let requestConsent = Action(rawValue: "requestConsent")
    /// Confirm the consent with the code that was sent last.
    public static let confirmConsent = Action(rawValue: "confirmConsent")

    // MARK: Clients of OAuth servers

    /// Register the client at the server, again if it was registered before.
    public static let registerClient = Action(rawValue: "registerClient")
    /// Get new tokens from the server.
    public static let requestTokens = Action(rawValue: "requestTokens")
    /// Give the client that the operator of the server has registered.
    public static let giveClient = Action(rawValue: "giveClient")
    /// Name the server as it names itself.
    public static let nameIssuer = Action(rawValue: "nameIssuer")
    /// Give the addresses of a server that does not describe itself.
    public static let nameEndpoints = Action(rawValue: "nameEndpoints")
    /// Have a person agree in a browser, by a code that comes back.
    public static let useAuthorizationCode = Action(rawValue: "useAuthorizationCode")
    /// Refresh the tokens once more, and get new ones if the server refuses that.
    public static let refreshOnce = Action(rawValue: "refreshOnce")
    /// Refresh the tokens.
    public static let refreshTokens = Action(rawValue: "refreshTokens")
    /// Authorize a request with the tokens, instead of reading them.
    public static let authorizeRequest = Action(rawValue: "authorizeRequest")
    /// Delete the set of tokens by its id, and get new ones from the server.
    public static let deleteTokens = Action(rawValue: "deleteTokens")
    /// Get tokens that are bound to a key: the server demands it.
    public static let bindTokens = Action(rawValue: "bindTokens")
    /// Get tokens without a key: the server does not bind them to one.
    public static let requestUnboundTokens = Action(rawValue: "requestUnboundTokens")

    // MARK: One-time passwords

    /// Make codes with the credential, or export it, instead of reading its secret.
    public static let useCredential = Action(rawValue: "useCredential")

    /// List the credentials for their names.
    public static let listCredentials = Action(rawValue: "listCredentials")
    /// Set the counter to that of the server.
    public static let setCounter = Action(rawValue: "setCounter")
    /// Set the counter back anyway.
    public static let forceCounter = Action(rawValue: "forceCounter")
    /// Make a code: the credential is a prover.
    public static let makeCode = Action(rawValue: "makeCode")
    /// Verify a code: the credential is a verifier.
    public static let verifyCode = Action(rawValue: "verifyCode")
    /// Sign a question: the credential has a suite.
    public static let signQuestion = Action(rawValue: "signQuestion")
    /// Verify the code of a question: the credential is a verifier with a suite.
    public static let verifySignature = Action(rawValue: "verifySignature")
    /// Export the items of the vault: a URI cannot describe the credential.
    public static let exportItems = Action(rawValue: "exportItems")
    /// Add a credential with a suite: this one has none.
    public static let addSuite = Action(rawValue: "addSuite")
    /// Allow a weak credential, if its server chose a short secret or few digits.
    public static let allowWeak = Action(rawValue: "allowWeak")
  }
}
