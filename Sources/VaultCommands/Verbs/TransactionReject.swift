import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl transaction reject ID`.
enum TransactionReject: VaultVerb {
  static let words = ["transaction", "reject"]
  static let summary = "Reject a transaction, and tell the server."
  static let arguments = [TransactionOptions.id]
  static let ownOptions: [any OptionKey] = [TransportOptions.program]
  static let needs = VaultNeed.unlocked
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.notFound, .blocked, .expired, .refused, .network, .outOfStep]
  static let notes = declineNotes
  static let example = "vaultctl transaction reject pay-1 --transport ~/transport"

  static func run(_ command: Command) throws -> Outcome { try decline(command, as: .rejected) }
}

/// `vaultctl transaction cancel ID`.
enum TransactionCancel: VaultVerb {
  static let words = ["transaction", "cancel"]
  static let summary = "Cancel a transaction, and tell the server."
  static let arguments = [TransactionOptions.id]
  static let ownOptions: [any OptionKey] = [TransportOptions.program]
  static let needs = VaultNeed.unlocked
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.notFound, .blocked, .expired, .refused, .network, .outOfStep]
  static let notes = declineNotes
  static let example = "vaultctl transaction cancel pay-1 --transport ~/transport"

  static func run(_ command: Command) throws -> Outcome { try decline(command, as: .cancelled) }
}

private let declineNotes = [
  "No code is made, and neither a PIN nor the passcode is asked for. The decision is stored before the server is told, and "
    + "it is final. If the server cannot be told, the exit code is 16 and the line says so."
]

private func decline(_ command: Command, as state: TransactionState) throws -> Outcome {
  let transport = try command.neededTransport()
  let transaction = try command.transaction()
  let context = try command.vault.pinContext()
  let decision = try command.vault.unlocking {
    try $0.declineTransaction(transaction.id, as: state, over: transport, context: context)
  }
  return try command.outcome(of: decision)
}
