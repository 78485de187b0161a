import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl transaction list`.
enum TransactionList: VaultVerb {
  static let words = ["transaction", "list"]
  static let summary =
    "List the transactions, those that wait first. With --transport, ask the servers before."
  static let ownOptions: [any OptionKey] = [TransactionOptions.credential, TransportOptions.program]
  static let needs = VaultNeed.unlocked
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [
    .notFound, .blocked, .expired, .refused, .network, .unsupported, .outOfStep,
  ]
  static let notes = [
    "With --transport, each active credential that was activated through it asks its server for all transactions, and with "
      + "--json what waits is listed with its text. None is no error. If a server fails, the others are asked all the same; the "
      + "list is printed, and the exit code is that of the first failure. Without it, no server is asked, and the vault stays locked.",
    "A decision that a server does not have is listed as not told, and --transport tells it first, with the code that was made for it. "
      + "Behind a camouflaged PIN no code is kept: 'transaction accept' asks for the PIN again. A decision that the server refused is "
      + "listed as refused there.",
    "With --json: id, alias, credential, state (pending, accepted, rejected, cancelled, timeout), delivery of a decision (told, untold, "
      + "refused), notShown (whether its text must not be shown), secondsLeft, received (Unix seconds), service, serviceName, "
      + "deviceAlias; of those that the servers offer also action, context or whyNotShown, types, choices.",
    "A transaction is kept for a day after its time.",
    noteOnUnreadableItems,
  ]
  static let examples = [
    "vaultctl transaction list --json",
    "vaultctl transaction list",
  ]

  static func run(_ command: Command) throws -> Outcome {
    var received: [TransactionDetails] = []
    var failure: VaultError?
    var unreadable: [ItemListing.Unreadable] = []
    let noteDamage = { (id: ItemID, error: VaultError) in
      guard !unreadable.contains(where: { $0.id == id }) else { return }
      unreadable.append(ItemListing.Unreadable(id, error))
    }
    if let name = command[TransactionOptions.credential] { _ = try command.vault.opened().item(named: name) }
    if let transport = try command.transport() {
      let credentials = try command.credentialsToAsk(over: transport, damaged: noteDamage)
      let answers = try command.receive(for: credentials, over: transport)
      received = answers.found
      for found in received where found.transaction.status != .pending {
        command.messages.note(
          "the server still offers '\(found.transaction.alias)', whose state here is \(found.transaction.status.rawValue)"
        )
      }
      failure = answers.failure
    } else if command.has(TransactionOptions.credential) {
      _ = try command.neededTransport()
    }
    let all = try command.vault.opened().transactions(damaged: noteDamage)
    let (names, asked) = (try command.names(ofCredentials: all, damaged: noteDamage), received)
    let damage = CommandError(unreadable: unreadable)
    if failure != nil, let damage { command.messages.note(damage.message) }
    return Outcome(
      json: .object {
        Field(
          "items",
          .list(count: all.count) {
            let (one, name) = (all[$0], names[$0])
            return asked.last { $0.id == one.id }?.json(of: name) ?? one.json(of: name)
          })
      },
      pieces: command.list(
        ["ALIAS", "STATE", "CREDENTIAL", "SERVICE"].map { Table.Column($0) }, count: all.count,
        ifEmpty: "there is no transaction: --transport asks the servers"
      ) { ListRow(cells: all[$0].row(of: names[$0])) },
      failure: failure.map { CommandError($0) } ?? damage)
  }
}
