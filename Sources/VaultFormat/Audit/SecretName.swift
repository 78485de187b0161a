/// The name of a secret, in the log and in errors.
package enum SecretName: String, Sendable {
  case passcode = "vault passcode"
  case newPasscode = "new vault passcode"
  case applicationPassword = "application password"
  case newApplicationPassword = "new application password"
  case phrase = "phrase of a member"
  case newPhrase = "new phrase"
  case finger = "finger of a member"
  case login = "login password"
  case pin = "PIN"
  case newPIN = "new PIN"
  case code
  case recoveryCode = "recovery code"
  case newRecoveryCode = "new recovery code"
  /// The log does not name it.
  case passphrase = "passphrase of a backup"
}
