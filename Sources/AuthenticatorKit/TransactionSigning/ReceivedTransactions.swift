package import VaultKit

/// What the server of a credential offers.
package struct ReceivedTransactions {
  /// The transactions with their texts, in the order of the server. Those that were decided here have their decisions.
  package var found: [TransactionDetails] = []
  /// What became of decisions that the server did not have.
  package var notices: [OTPResult.Notice] = []
  /// How many were not stored: so many texts that must not be shown wait already.
  package var notKept = 0
  /// Whether the server may have more: it does not go on after one, or has too many.
  package var mayHaveMore = false
  /// Why the first was not stored that is malformed or damaged, or why the server could not be asked for the rest.
  package var failure: VaultError?

  /// So many transactions of a credential whose texts must not be shown wait at most.
  static let mostHidden = 32
  /// So many are asked for in one call.
  static let most = 256
}

extension VaultError {
  /// Whether it is about one transaction, so that the others can be received all the same.
  var concernsOneTransaction: Bool {
    [.damaged, .expired, .network, .policy, .unsupported].contains(code)
  }
}
