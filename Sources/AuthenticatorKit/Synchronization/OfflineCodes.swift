import VaultKit

/// Codes that are about to be made without the peer, and the moment that decides whether the limits allow them.
struct OfflineCodes {
  let limits: OfflineLimits
  private let count: UInt64
  private let hasPeer: Bool
  /// The wall clock.
  private let wall: Instant
  /// The wall clock, or the greatest wall time that the vault has seen: setting the clock back makes nothing younger.
  private let latest: Instant

  /// How far before the last synchronization the clock may be, in seconds.
  private static let tolerance: Int64 = 86_400

  /// - Returns: `nil` for codes that the peer gets at once: they are neither limited nor counted.
  init?(
    _ count: UInt64 = 1, of item: Item, for purpose: CodePurpose, in transaction: borrowing ReadTransaction
  ) {
    guard !purpose.isOnline else { return nil }
    limits = OfflineLimits(item)
    self.count = count
    hasPeer = item.attributes[.peer] != nil
    (wall, latest) = (transaction.clock.now(), transaction.expiryTime)
  }

  /// - Throws: ``VaultError/Code/outOfStep`` beyond a limit.
  func refuse(_ state: ItemState) throws(VaultError) {
    if let codes = limits.codes {
      let made = UInt64(state.codesSinceSynchronization)
      guard made <= codes, count <= UInt64(codes) - made else {
        throw outOfStep("\(made) of \(codes) codes were made since the last synchronization")
      }
    }
    if let seconds = limits.seconds {
      let last = state.lastSynchronization
      let age = latest.seconds.subtractingReportingOverflow(last.seconds)
      // A clock before the last synchronization says nothing about the time since then. It may be so by a day: the greatest
      // time may be that of a clock which was ahead once, and a synchronization took it.
      let isBefore = wall.seconds < last.seconds.subtractingReportingOverflow(Self.tolerance).partialValue
      guard !isBefore, !age.overflow, age.partialValue < Int64(seconds) else {
        throw outOfStep("the last synchronization is too long ago: \(seconds) s are allowed")
      }
    }
  }

  /// Counts the codes.
  ///
  /// - Throws: As ``refuse(_:)``. The state is then as it was.
  func take(from state: inout ItemState) throws(VaultError) {
    try refuse(state)
    let (sum, isBeyond) = state.codesSinceSynchronization.addingReportingOverflow(UInt32(clamping: count))
    state.codesSinceSynchronization = isBeyond ? .max : sum
  }

  private func outOfStep(_ why: String) -> VaultError {
    VaultError(
      .outOfStep, "the credential is out of step: \(why)",
      hint: hasPeer ? .synchronize : .setCounter)
  }
}

extension ReadTransaction {
  /// Throws if the limits allow no further code, before anyone is asked and anything is opened. Reads nothing for a
  /// credential without limits.
  ///
  /// - Throws: ``VaultError/Code/outOfStep``.
  mutating func refuseOutOfStep(_ item: Item, codes: UInt64 = 1, for purpose: CodePurpose) throws(VaultError)
  {
    let limits = OfflineLimits(item)
    guard !limits.isNone else { return }
    if limits.seconds != nil { try readTime() }
    guard let offline = OfflineCodes(codes, of: item, for: purpose, in: self) else { return }
    try offline.refuse(state(of: item.id))
  }
}

extension CodePurpose {
  /// Whether a code without a counter needs a commit to be counted in.
  func counts(_ item: Item) -> Bool { !isOnline && OfflineLimits(item).codes != nil }
}

extension WriteTransaction {
  /// Counts a code without a counter, if its credential has a limit of codes or a peer to tell of them.
  ///
  /// - Throws: ``VaultError/Code/outOfStep``.
  mutating func countCode(of item: Item, for purpose: CodePurpose) throws(VaultError) {
    guard let offline = OfflineCodes(of: item, for: purpose, in: reading),
      offline.limits.codes != nil || item.attributes[.peer] != nil
    else { return }
    var held = try heldState(of: item.id)
    try held.state.refuseUnlessActive()
    try offline.take(from: &held.state)
    try keep(held)
  }
}
