/// The one way each secret comes in, besides a prompt: `--…-fd N` or `--…-file PATH`.
package enum SecretChannel: String, CaseIterable, Sendable {
  case passcode
  case newPasscode = "new-passcode"
  case pin
  case newPIN = "new-pin"
  case phrase
  case applicationPassword = "application-password"
  case passphrase
  case recovery

  var descriptorOption: String { rawValue + "-fd" }
  var fileOption: String { rawValue + "-file" }

  /// What a prompt and the help call it.
  package var title: String {
    switch self {
    case .passcode: "passcode"
    case .newPasscode: "new passcode"
    case .pin: "PIN"
    case .newPIN: "new PIN"
    case .phrase: "biometric phrase"
    case .applicationPassword: "application password"
    case .passphrase: "passphrase"
    case .recovery: "recovery code"
    }
  }

  var options: [Option] {
    [
      Option(
        descriptorOption, .descriptor, "N",
        "Read the \(title) from descriptor N to its end; one final newline is dropped."),
      Option(
        fileOption, .path, "PATH",
        "Read the \(title) from PATH: your own file, mode 0600 or 0400, links not followed."),
    ]
  }
}
