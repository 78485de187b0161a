import OneTimePassword
import VaultKit

extension WriteTransaction {
  /// The counter to use now. The commit writes the next one.
  mutating func takeCounter(of item: Item, for purpose: CodePurpose) throws(VaultError) -> UInt64 {
    if let counter = purpose.counter { return try usedCounter(counter, of: item) }
    let offline = OfflineCodes(of: item, for: purpose, in: reading)
    var held = try heldState(of: item.id)
    try held.state.refuseUnusable(item)
    try offline?.take(from: &held.state)
    let used = held.state.counter
    if used == .max { held.state.isBlocked = true }
    held.state.use(next: used == .max ? used : used + 1, codes: 1, at: reading.clock.now())
    try keep(held)
    return used
  }

  /// A counter that was used: its code is made once more, for what it was made for.
  private mutating func usedCounter(_ counter: UInt64, of item: Item) throws(VaultError) -> UInt64 {
    let state = try state(of: item.id)
    try state.refuseUnlessActive()
    guard counter < state.counter || state.isBlocked else {
      throw VaultError(
        .wrongState,
        "the transaction was accepted with the counter \(counter), and the counter of the credential was set back behind it",
        hint: .setCounter)
    }
    return counter
  }
}

extension ItemState {
  /// Throws if the counter may be behind its server, or has reached its end.
  func refuseUnusable(_ item: Item) throws(VaultError) {
    try refuseUnlessActive()
    guard !needsResync else {
      throw VaultError(
        .outOfStep, "the counter may be behind its server: the vault was copied or restored",
        hint: item.hasServer ? .synchronize : .setCounter)
    }
    guard !isBlocked else { throw VaultError(otp: .counterExhausted) }
  }

  /// Notes codes of a prover.
  mutating func use(next counter: UInt64, codes: UInt64, at now: Instant) {
    self.counter = counter
    lastUse = now
    uses &+= codes
    let (sum, isBeyond) = unconfirmed.addingReportingOverflow(UInt32(clamping: codes))
    unconfirmed = isBeyond ? .max : sum
  }
}
