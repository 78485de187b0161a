import AuthenticatorKit
import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl pin verify [PINITEM]`.
enum PINVerify: VaultVerb {
  static let words = ["pin", "verify"]
  static let summary = "Check a PIN or its biokey, and print the name of the login."
  static let arguments = [PINOptions.item]
  static let biometry = Flag("biometry", "Ask for the biokey in place of the PIN.")
  static let data = Flag("data", "Bind the login to standard input, which is read as it is.")
  static let credential = Setting(
    "credential", .text, "NAME", "The credential behind the PIN whose server names the login.")
  static let ownOptions: [any OptionKey] = [biometry, data, credential, TransportOptions.program]
  static let channels = [SecretChannel.pin, .phrase]
  static let standardInput = StandardInput.data("data of --data")
  static let needs = VaultNeed.unlocked
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.notFound, .expired, .refused, .network, .outOfStep]
  static let notes = [
    "Without a server, the name of the login is the number of its entry in 'vaultctl audit', and that has the SHA-256 of the data. "
      + "With --transport and --credential, the server gets a code of the credential and the data, and names the login. With "
      + "a suite, the data is the question, and required.",
    "A wrong PIN counts (3), and the last one blocks the PIN (4). Nothing here can check a camouflaged PIN (9).",
    "With --json: name and id of the PIN item, verified, which is true, login (the name of the login), and attemptsLeft.",
  ]
  static let examples = [
    "vaultctl pin verify --pin-fd 3 3<pin",
    "vaultctl pin verify --pin-file pin --json",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let item = try command.pinItem()
    let transport = try command.transport()
    guard (transport == nil) == (command[credential] == nil) else {
      throw CommandError.usage(
        "--transport and --credential go together: a server names the login of a credential")
    }
    let context = try command.unlockedContext(for: item)
    let data = command[data] ? SharedSecret(try command.secrets.data("data", to: "bind the login")) : nil
    let factor: LoginFactor = command[biometry] ? .biometry : .pin
    let login = try command.vault.unlocking { core in
      guard let transport, let name = command[credential] else {
        return try core.logIn(item.id, by: factor, data: data, context: context)
      }
      return try core.logIn(
        item.id, with: core.item(named: name).id, over: transport, by: factor, data: data, context: context)
    }
    command.note(marked: login.wasMarked)
    return Outcome(
      json: .object {
        Field("name", item.name ?? "")
        Field("id", login.item.hexadecimal)
        Field("verified", true)
        Field("login", login.id)
        Field("attemptsLeft", login.attemptsLeft)
      }, lines: [login.id])
  }
}
