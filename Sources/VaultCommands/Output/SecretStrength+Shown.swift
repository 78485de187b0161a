import VaultKit

extension SecretStrength {
  /// The text of the help about secrets that can be guessed.
  static let guessableNote =
    "A passcode that can be guessed is accepted with a warning, which names about how many bits it has. From 64 bits on there is none: "
    + "six random words have 66."
}
