import JOSE
import VaultKit

extension VaultError {
  /// A token that is refused.
  init(jose error: JOSEError) {
    self =
      switch error {
      case .expired: VaultError(.expired, error.message, hint: "begin again, and ask for a new token")
      case .notYetValid:
        VaultError(.policy, error.message, hint: "compare the clock of this machine with the right time")
      case .signatureMismatch, .unsecured, .keyMismatch:
        VaultError(
          .authenticationFailed, error.message,
          hint: "nobody who has the key has signed it: do not believe it")
      case .wrongValue:
        VaultError(.policy, error.message, hint: "it belongs to another request: ask for the right one again")
      case .criticalHeader:
        VaultError(.unsupported, error.message, hint: "have the other side leave out crit, b64 and zip")
      case .unsupportedAlgorithm:
        VaultError(
          .unsupported, error.message, hint: "have the other side sign as JWT with HS256, ES256 or RS256")
      case .refusedKey: VaultError(.policy, error.message, hint: "use another key")
      case .malformed, .tooLong, .missing, .wrongType:
        VaultError(.malformed, error.message, hint: "give the token as it was received")
      case .library: VaultError(.io, error.message)
      }
  }
}
