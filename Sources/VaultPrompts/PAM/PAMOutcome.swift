import PAMMessages
import VaultKit

extension PAMVerdict {
  /// nil when both steps and the conversation succeeded, for the user of the request.
  var denial: VaultError? {
    switch step {
    case .success: nil
    case .start: Self.broken(result)
    case .authenticate: Self.error(ofAuthentication: result)
    case .account: Self.error(ofAccount: result)
    case .otherUser: VaultError(.authenticationFailed, "PAM verified another user")
    case .conversation:
      VaultError(.verificationUnavailable, "a PAM module asks in an unknown way")
    }
  }
  /// The numbers are those of Linux-PAM.
  private static func error(ofAuthentication result: Int32) -> VaultError {
    switch result {
    case 7: denied("PAM denied access: a wrong answer, or a rule of the administrator", result: result)
    case 6: denied("PAM denied permission", result: result)
    case 8: denied("PAM cannot read the stored password", result: result)
    case 10: denied("PAM does not know this user", result: result)
    case 11: denied("PAM denied access: too many tries", result: result)
    case 12, 27: denied("the password has expired", result: result, hint: "change it: passwd")
    case 13: denied("the account has expired", result: result)
    case 9:
      VaultError(
        .verificationUnavailable, "PAM cannot reach the service that verifies the password",
        underlying: result
      )
    default: broken(result)
    }
  }

  private static func error(ofAccount result: Int32) -> VaultError {
    switch result {
    case 7, 6: denied("PAM denies access to this account", result: result)
    case 10: denied("PAM does not know this account", result: result)
    case 12, 27: denied("the password has expired", result: result, hint: "change it: passwd")
    case 13: denied("the account has expired", result: result)
    default: broken(result)
    }
  }

  private static func denied(_ message: String, result: Int32, hint: Hint? = nil) -> VaultError {
    VaultError(.authenticationFailed, message, hint: hint, underlying: result)
  }

  private static func broken(_ result: Int32) -> VaultError {
    VaultError(
      .verificationUnavailable, "the PAM service does not work (PAM error \(result))",
      hint: "the system log says which module", underlying: result)
  }
}

extension VaultError {
  static var pamSilent: VaultError {
    VaultError(
      .verificationUnavailable, "a PAM module does not answer", hint: "the system log may say which one")
  }

  /// Either a module ended the process of the helper, or the helper does not start because a library is missing.
  static var pamEnded: VaultError {
    VaultError(
      .verificationUnavailable, "vault-pam ended without a verdict of PAM",
      hint: "the system log may say which module ended it")
  }

  static var pamNonsense: VaultError {
    VaultError(
      .verificationUnavailable, "vault-pam breaks the protocol",
      hint: "install the vault-pam of this version")
  }

  static var pamCancelled: VaultError { VaultError(.cancelled, "cancelled while PAM was asked") }
}
