/// What a write transaction has done so far.
struct TransactionChanges: Sendable {
  /// Something was written; an untouched transaction is rolled back.
  var isDirty = false
  /// Secrets or slots were deleted: the log must be truncated.
  var needsCleaning = false
  /// Operations of several writes that have begun and not come to their end. One that stopped half way stays here, so
  /// the transaction is rolled back even when its closure passes over the error.
  var underWay = 0
  /// Suite-2 seals written.
  var seals: UInt64 = 0
}
