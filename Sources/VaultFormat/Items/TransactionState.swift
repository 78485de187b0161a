/// What became of a transaction.
package enum TransactionState: UInt8, Sendable, CaseIterable {
  case pending
  case accepted
  case rejected
  case cancelled
  case timeout
}
