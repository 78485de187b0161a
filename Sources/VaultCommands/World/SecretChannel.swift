import CommandLineKit

/// The one way each secret comes in, besides a prompt: `--…-fd N` or `--…-file PATH`.
package enum SecretChannel: String, CaseIterable, Sendable {
  case passcode
  case newPasscode = "new-passcode"
  case phrase
  case applicationPassword = "application-password"
  case passphrase
  case recovery
  case pin
  case newPIN = "new-pin"
  /// The PIN of a suite with P, which is a part of the code. Another one may guard the credential.
  case suitePIN = "suite-pin"
  case unlockKey = "unlock-key"
  case code
  /// What a browser brings back from an OAuth server. Its option has the name of a code. It answers the address that the
  /// command has just printed, so no file has it.
  case authorization
  case token
  case session
  /// Of a client that its operator has registered at an OAuth server.
  case clientSecret = "client-secret"

  /// What a prompt and the help call it.
  package var title: String {
    switch self {
    case .passcode: "passcode"
    case .newPasscode: "new passcode"
    case .phrase: "biometric phrase"
    case .applicationPassword: "application password"
    case .passphrase: "passphrase"
    case .recovery: "recovery code"
    case .pin: "PIN"
    case .newPIN: "new PIN"
    case .suitePIN: "PIN of the suite"
    case .unlockKey: "unlock key"
    case .code: "code"
    case .authorization: "authorization code"
    case .token: "access token"
    case .session: "session"
    case .clientSecret: "secret of the client"
    }
  }

  /// How it is read: a token, and an address of a browser, are longer than what a person types.
  var limit: Int? {
    switch self {
    case .token: 64 << 10
    case .authorization: 8 << 10
    default: nil
    }
  }

  /// Whether it is a code, which has no blanks at its ends.
  var isCode: Bool { [.recovery, .unlockKey, .code, .authorization, .token].contains(self) }

  /// Whether a prompt asks a person for it. Sessions and initial access tokens come from programs, and secrets of clients from files.
  var isAskedFor: Bool { ![.token, .session, .clientSecret].contains(self) }

  /// What a prompt calls it: no two secrets by one name.
  func shownTitle(isNew: Bool) -> String {
    switch self {
    case .passcode: isNew ? "new vault passcode" : "vault passcode"
    case .newPasscode: "new vault passcode"
    case .passphrase: isNew ? "new passphrase of the backup" : "passphrase of the backup"
    default: title
    }
  }

  /// What happens with it as a rule, as a prompt says it.
  func purpose(isNew: Bool) -> String {
    switch self {
    case .passcode: isNew ? "protect the vault" : "unlock the vault"
    case .newPasscode: "protect the vault from now on"
    case .passphrase: isNew ? "protect the backup" : "open the backup"
    case .recovery: "check that it opens the vault"
    case .phrase: "enroll it"
    case .applicationPassword, .pin: "use the item"
    case .newPIN: "make a PIN"
    case .suitePIN: "put its hash into the code"
    case .unlockKey: "set a new PIN"
    case .code: "check it"
    case .authorization: "get tokens: the code, or the whole address to which the browser was sent"
    case .token: "put its hash into the proof"
    case .session: "use what belongs to it"
    case .clientSecret: "prove to the server who the client is"
    }
  }

  /// The options that give it.
  var options: SecretOptions {
    let isAnswer = self == .authorization
    return SecretOptions(name: isAnswer ? "code" : rawValue, title: title, hasFile: !isAnswer)
  }

  /// Whether a verb takes it.
  func isTaken(by verb: any Verb.Type) -> Bool {
    let name = options.descriptor.name
    return verb.secretOptions.contains { $0.descriptor.name == name }
  }

  /// The option that gives it on a command line; `nil` if none does.
  func option(in invocation: Invocation) -> (any OptionKey)? { options.options.first { invocation.has($0) } }
}
