import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit
import VaultPrompts
import VaultWords

/// `vaultctl transaction accept ID`.
enum TransactionAccept: VaultVerb {
  static let words = ["transaction", "accept"]
  static let summary = "Accept a transaction after its whole text was shown, and tell the server its code."
  static let arguments = [TransactionOptions.id]
  static let ownOptions: [any OptionKey] = [TransactionOptions.type, TransportOptions.program]
  static let channels = ItemOptions.accessChannels + [.pin]
  static let needs = VaultNeed.unlocked
  static let asksByFlags = true
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.notFound, .blocked, .expired, .refused, .network, .outOfStep]
  static let notes = [
    "The prompt shows the text, and with a suite the code signs that very text. With --type device the person says yes or no; "
      + "there is no such prompt for a PIN or a phrase that an option gives.",
    "Ctrl-C, or an empty answer, decides nothing: the transaction waits on, and no counter and no attempt is used. "
      + "'transaction cancel' and 'transaction reject' are decisions.",
    "With --type biometry, a wrong phrase is asked for again. After three failures the PIN may be given instead, and after five "
      + "the PIN is asked for, if the transaction offers it.",
    "The acceptance is stored before the server is told, and it is final. If the server cannot be told, the exit code is 16, and it is told "
      + "at the next contact with the code that was made: by 'transaction list --transport', another decision, 'otp sync' or a code with "
      + "--online. Ctrl-C while the server is told does not take it back: 'transaction list' shows it. Accepting again what the server "
      + "does not have tells it at once; behind a camouflaged PIN no code is kept, and the PIN is asked for again.",
    "A transaction whose text must not be shown is not accepted (9).",
  ]
  static let examples = [
    "vaultctl transaction accept pay-1 --transport ~/transport --pin-file pin",
    "vaultctl transaction accept pay-1 --transport ~/transport --pin-fd 3 3<pin",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let transaction = try command.transaction()
    let transport = try command.neededTransport()
    let factor = try command[TransactionOptions.type] ?? chosen(command, for: transaction.id)
    let context = try command.vault.pinContext()
    let decision = try command.vault.unlocking {
      try $0.acceptTransaction(transaction.id, by: factor, over: transport, context: context)
    }
    return try command.outcome(of: decision)
  }

  /// What the person chooses; `nil` where there is no choice.
  private static func chosen(_ command: Command, for id: ItemID) throws -> TransactionFactor? {
    let details = try command.details(of: id)
    guard details.transaction.status == .pending, details.choices.count > 1 else { return nil }
    let prompt = CommandPrompt(secrets: command.secrets)
    do throws(VaultError) {
      for choice in details.choices.dropLast() {
        var request = PromptRequest(
          .confirmation, operation: "accept the transaction", label: details.transaction.alias)
        request.question = "accept it by \(choice.rawValue)"
        if try prompt.confirm(request) { return choice }
      }
      return details.choices.last
    } catch {
      guard error.code == .interactionNotAllowed else { throw error }
      throw CommandError.usage(
        "the transaction can be accepted in several ways, and none is chosen",
        hint: "give --type " + details.choices.map(\.rawValue).joined(separator: "|"))
    }
  }
}
