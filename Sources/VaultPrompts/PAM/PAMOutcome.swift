import PAMMessages
import VaultKit

extension PAMVerdict {
  /// nil is success of both steps and of the conversation, for the user that was asked about.
  var denial: VaultError? {
    switch step {
    case .success: nil
    case .start: Self.broken(result)
    case .authenticate: Self.error(ofAuthentication: result)
    case .account: Self.error(ofAccount: result)
    case .otherUser: VaultError(.authenticationFailed, "PAM verified another user")
    case .conversation:
      VaultError(.verificationUnavailable, "a PAM module asks in a way that is not known")
    }
  }
  /// The numbers are those of Linux-PAM.
  private static func error(ofAuthentication result: Int32) -> VaultError {
    switch result {
    case 7: denied("PAM denied it: a wrong answer, or a rule of the administrator", result)
    case 6: denied("PAM does not permit it", result)
    case 8: denied("PAM may not read what it compares the answer with", result)
    case 10: denied("PAM does not know this user", result)
    case 11: denied("PAM denied it: too many tries", result)
    case 12, 27: denied("the password has expired", result, hint: "change it: passwd")
    case 13: denied("the account has expired", result)
    case 9:
      VaultError(
        .verificationUnavailable, "PAM does not reach the service that knows the password", underlying: result
      )
    default: broken(result)
    }
  }

  private static func error(ofAccount result: Int32) -> VaultError {
    switch result {
    case 7, 6: denied("PAM does not let this account in", result)
    case 10: denied("PAM does not know this account", result)
    case 12, 27: denied("the password has expired", result, hint: "change it: passwd")
    case 13: denied("the account has expired", result)
    default: broken(result)
    }
  }

  private static func denied(_ message: String, _ result: Int32, hint: Hint? = nil) -> VaultError {
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
      .verificationUnavailable, "a PAM module gives no answer", hint: "the system log may say which one")
  }

  /// A module that ends its process is one reason, a vault-pam that does not start for want of a library another.
  static var pamEnded: VaultError {
    VaultError(
      .verificationUnavailable, "vault-pam ended without a verdict of PAM",
      hint: "the system log may say which module ended it")
  }

  static var pamNonsense: VaultError {
    VaultError(
      .verificationUnavailable, "vault-pam says what makes no sense",
      hint: "install the one that belongs to this version")
  }

  static var pamCancelled: VaultError { VaultError(.cancelled, "cancelled while PAM was asked") }
}
