import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl transaction reject ID`.
enum TransactionReject: DecliningVerb {
  static let words = ["transaction", "reject"]
  static let summary = "Reject a transaction, and tell the server."
  static let decision = TransactionState.rejected
  static let examples = [
    "vaultctl transaction reject pay-1 --transport ~/transport",
    "vaultctl transaction reject pay-1 --transport ~/transport --json",
  ]
}

/// `vaultctl transaction cancel ID`.
enum TransactionCancel: DecliningVerb {
  static let words = ["transaction", "cancel"]
  static let summary = "Cancel a transaction, and tell the server."
  static let decision = TransactionState.cancelled
  static let examples = [
    "vaultctl transaction cancel pay-1 --transport ~/transport",
    "vaultctl transaction cancel pay-1 --transport ~/transport --json",
  ]
}

/// A verb that ends a transaction without a code.
protocol DecliningVerb: VaultVerb {
  static var decision: TransactionState { get }
}

extension DecliningVerb {
  static var arguments: [Argument] { [TransactionOptions.id] }
  static var ownOptions: [any OptionKey] { [TransportOptions.program] }
  static var needs: VaultNeed { .unlocked }
  static var audited: Audited { .always }
  static var ownExits: [ExitCode] { [.notFound, .blocked, .expired, .refused, .network, .outOfStep] }
  static var notes: [String] {
    [
      "No code is made, and no PIN is asked for; the passcode is asked for only by another transport. The decision is stored before the server is told, and "
        + "it is final. If the server cannot be told, the exit code is 16, and it is told at the next contact or when the verb is repeated."
    ]
  }

  static func run(_ command: Command) throws -> Outcome {
    let transaction = try command.transaction()
    let transport = try command.neededTransport()
    let context = try command.vault.pinContext()
    let declined = try command.vault.unlocking {
      try $0.declineTransaction(transaction.id, as: decision, over: transport, context: context)
    }
    return try command.outcome(of: declined)
  }
}
