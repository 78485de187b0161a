import VaultFormat

/// What a write transaction has done so far.
struct TransactionChanges: Sendable {
  /// Something was written. A transaction without changes is rolled back.
  var isDirty = false
  /// Secrets or slots were deleted: the log must be truncated.
  var needsCleaning = false
  /// The number of operations with several writes that have begun but not ended.
  private var underWay = 0
  /// PIN items that were deleted. No item may be left behind them when the transaction ends.
  var removedPINs: Set<ItemID> = []
  /// Whether a row was deleted whose attributes do not open. It may have been a PIN, whatever its columns say.
  var removedUnknown = false
  /// Whether the transaction has marked what may be behind, because the file is a copy or an older state.
  var hasMarked = false
  /// How many tokens and consents ended.
  var endedItems = 0
  /// What was noted in the audit, where a log of this process is on. The lines are written after the commit.
  var notes: [AuditNote] = []
  /// What was done, for ``VaultCore/takeDone()``.
  var done = DoneOperations()
  /// Suite-2 seals written.
  var seals: UInt64 = 0

  /// An operation of several writes that has begun. One that fails in the middle never ends, so the transaction cannot be
  /// committed even if its caller ignores the error.
  struct Operation: ~Copyable { fileprivate init() {} }

  /// Begins an operation of several writes.
  mutating func begin() -> Operation {
    underWay += 1
    return Operation()
  }

  /// Ends an operation, all of whose writes are made.
  mutating func end(_ operation: consuming Operation) { underWay -= 1 }

  /// Whether an operation has begun that has not ended.
  var isHalfDone: Bool { underWay > 0 }
}
