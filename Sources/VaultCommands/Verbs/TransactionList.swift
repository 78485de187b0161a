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
  static let ownExits: [ExitCode] = [.notFound, .blocked, .expired, .refused, .network]
  static let notes = [
    "With --transport, each active credential that was activated through it asks its server for the next transaction, and what "
      + "waits is listed with its text. None is no error. Without it, nobody is asked, and the vault stays locked.",
    "With --json: id, alias, credential, state (pending, accepted, rejected, cancelled, timeout), secondsLeft, received (Unix "
      + "seconds), service, serviceName, deviceAlias; of those that wait and were asked for also action, context, types, choices.",
    "A transaction is kept for a day after its time.",
  ]
  static let example = "vaultctl transaction list --json"

  static func run(_ command: Command) throws -> Outcome {
    var received: [ItemID: TransactionDetails] = [:]
    if let transport = try command.transport() {
      received = try receive(command, over: transport)
    } else if command.has(TransactionOptions.credential) {
      _ = try command.neededTransport()
    }
    let all = try command.vault.opened().transactions()
    var names: [ItemID: String] = [:]
    for id in Set(all.map(\.credential)) { names[id] = try command.name(of: id) }
    return Outcome(
      json: .object {
        Field(
          "items",
          .array(
            all.map { received[$0.id]?.json(of: names[$0.credential]) ?? $0.json(of: names[$0.credential]) }))
      }, lines: columns(all.map { $0.row(of: names[$0.credential]) }))
  }

  private static func receive(
    _ command: Command, over transport: any Transport
  ) throws -> [ItemID: TransactionDetails] {
    var received: [ItemID: TransactionDetails] = [:]
    for credential in try command.credentialsToAsk(over: transport) {
      let context = try command.vault.pinContext()
      let found = try command.vault.unlocking {
        try $0.receiveTransaction(for: credential.id, over: transport, context: context)
      }
      if let found { received[found.id] = found }
    }
    return received
  }
}
