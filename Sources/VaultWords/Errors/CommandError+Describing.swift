import AuthenticatorKit
package import CommandLineKit
import OneTimePassword
import VaultKit

extension CommandError {
  /// The error of the command line for any error of a command.
  package init(describing error: any Error) {
    switch error {
    case let error as CommandError: self = error
    case let error as VaultError: self.init(error)
    case let error as OTPError: self.init(VaultError(otp: error))
    default: self = CommandError(.io, "an error that vaultctl does not know", code: "unknown")
    }
  }
}
