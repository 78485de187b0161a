/// A block of counters, taken from the store in one durable write, so that the next codes need no write.
///
/// What is left of a block when its owner ends is a gap. A counter is never issued twice. The look-ahead of the
/// verifier must cover the gap, so a block is smaller than half of it.
package struct CounterReservation: ~Copyable, Sendable {
  /// The next counter that the store must hold, durably, before the first code of the block is shown.
  package let counterAfterBlock: UInt64
  private var next: UInt64

  /// A block that begins with the stored next counter.
  ///
  /// - Parameters:
  ///   - counter: The stored next counter, the first of the block.
  ///   - count: The number of counters in the block.
  ///   - lookAhead: How many counters the verifier looks ahead.
  /// - Throws: ``OTPError/Code/invalidReservation`` for an empty block or one that is not smaller than half the
  ///   look-ahead, ``OTPError/Code/counterExhausted`` when the block would pass 2^64 − 1.
  package init(startingAt counter: UInt64, count: UInt64, lookAhead: UInt64) throws(OTPError) {
    guard count > 0, count < lookAhead / 2 + lookAhead % 2 else { throw .invalidReservation }
    let (end, overflow) = counter.addingReportingOverflow(count)
    if overflow { throw .counterExhausted }
    counterAfterBlock = end
    next = counter
  }

  /// How many counters are left.
  package var remaining: UInt64 { counterAfterBlock - next }

  /// The next counter of the block; `nil` when it is used up.
  package mutating func take() -> UInt64? {
    guard next < counterAfterBlock else { return nil }
    defer { next += 1 }
    return next
  }
}
