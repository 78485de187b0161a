/// What became of a transaction (offset 112 of its state).
package enum TransactionState: UInt8, Sendable, CaseIterable {
  case pending
  case accepted
  case rejected
  case cancelled
  case timeout
}
