import CommandLineKit
import SecretMemory
import VaultKit
import VaultWords

extension Command {
  /// Whether a secret that a person chose can be guessed. If so, prints a warning of one line; never refuses the
  /// secret.
  ///
  /// - Parameter what: The name of the secret in the warning.
  func warnIfGuessable(_ secret: borrowing SecretBytes, what: String) -> Bool {
    let strength = SecretStrength(of: secret)
    if strength.isGuessable {
      messages.warn("the \(what) can be guessed, \(strength.words); six random words cannot")
    }
    return strength.isGuessable
  }
}
