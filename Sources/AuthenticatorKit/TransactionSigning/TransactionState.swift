import VaultKit

/// What became of a transaction.
@nonexhaustive
public enum TransactionState: String, Sendable, CaseIterable {
  /// It waits for the person.
  case pending
  /// The person accepted it.
  case accepted
  /// The person rejected it.
  case rejected
  /// It was cancelled.
  case cancelled
  /// It was not answered in time.
  case timedOut = "timeout"
}

/// The first byte of its standing.
extension TransactionState: Numbered { package static let firstNumber: UInt8 = 0 }
