package import VaultKit

/// Where a peer says that it is: its counter, its clock and its limits. Every value is checked, none is stored yet.
struct PeerPosition {
  /// The next counter that it expects; `nil` if it names none.
  let counter: UInt64?
  /// What the prover has to add to its clock, in seconds; `nil` if the peer names no time.
  let secondsOffset: Int32?
  /// The new limits; `nil` where they stay.
  let limits: OfflineLimits
  /// - Parameter moment: When the answer came.
  /// - Throws: ``VaultError/Code/network`` for a value out of its bounds.
  init(_ fields: TransportFields, at moment: Instant) throws(VaultError) {
    counter = try fields.number("counter", 0...UInt64.max - 1)
    secondsOffset = try fields.secondsOffset(from: moment)
    limits = try OfflineLimits(fields)
  }

  /// Brings the state of a prover in step. The counter never goes back.
  ///
  /// - Parameters:
  ///   - told: The codes that the peer was told of.
  ///   - now: The time by which items expire: the age of this synchronization is measured by it.
  /// - Throws: ``VaultError/Code/network`` for a counter that is too far ahead.
  func apply(to state: inout ItemState, of item: Item, told: ToldCodes, now: Instant) throws(VaultError) {
    if let counter, item.countsCodes {
      guard counter <= state.counter || counter - state.counter <= Self.greatestLead else {
        throw .peerAnswered("its counter is more than \(Self.greatestLead) ahead")
      }
      state.counter = max(state.counter, counter)
      state.needsResync = false
      state.unconfirmed = 0
    }
    if let secondsOffset { state.secondsOffset = secondsOffset }
    told.settle(in: &state, now: now)
  }

  private static let greatestLead: UInt64 = 1_000_000
}

/// The codes that a peer is told of: those that were made since a synchronization.
struct ToldCodes {
  let count: UInt32
  private let last: Instant

  init(_ state: ItemState) { (count, last) = (state.codesSinceSynchronization, state.lastSynchronization) }

  /// Takes them out of the count. Codes that another process made meanwhile stay in it, because the peer does not know them. If
  /// another synchronization ended meanwhile, nothing is taken out: it may have told the same codes.
  func settle(in state: inout ItemState, now: Instant) {
    if state.lastSynchronization == last {
      state.codesSinceSynchronization -= min(count, state.codesSinceSynchronization)
    }
    // A clock that stands still must not hide this synchronization from one that began before it.
    let next = state.lastSynchronization.advanced(byMilliseconds: 1)
    state.lastSynchronization = now < next && next.seconds <= now.seconds + 1 ? next : now
  }
}

extension ItemState {
  /// The time of a prover's codes: this clock and what a synchronization found that the server's differs by.
  package func time(_ clock: any VaultClock) -> Int64 { clock.now().seconds + Int64(secondsOffset) }
}
