import Synchronization
package import VaultCommands
package import VaultKit

/// What persons have let programs do again, in memory alone.
///
/// A grant is for one operation on one item, and for what one program starts: it is bound to that process by number, start time, user and
/// executable. It ends with the lock of its vault, with the program, at its time and after its uses, and when the vault does not accept
/// it any more (``VaultKit/StandingGrant``).
package final class ServedGrants: Sendable {
  private struct Entry {
    let number: Int64
    let grant: StandingGrant
    let file: FileIdentity
    let path: String
    let name: String
    let program: MeasuredProgram
    /// Milliseconds since boot at which it ends.
    let end: UInt64
    /// nil: as often as the program likes.
    var usesLeft: Int?
  }

  private struct State {
    var entries: [Entry] = []
    var lastNumber: Int64 = 0
    /// When it was last looked whether the programs are still there.
    var looked: UInt64 = 0
  }
  private let state = Mutex(State())
  private let clock: any VaultClock
  private let executables: ExecutableReader
  /// Called by any thread when a grant was made.
  private let changed: @Sendable () -> Void

  init(
    clock: any VaultClock, knowing executables: ExecutableReader, changed: @escaping @Sendable () -> Void
  ) {
    (self.clock, self.executables, self.changed) = (clock, executables, changed)
  }

  // MARK: Uses

  /// The grant of a program; nil if it has none that is left.
  package func grant(
    in file: FileIdentity, for item: ItemID, _ operation: ItemOperation, to program: MeasuredProgram.Identity
  ) -> StandingGrant? {
    let now = clock.bootMilliseconds()
    return state.withLock { state in
      state.entries.first {
        $0.file == file && $0.grant.item == item && $0.grant.operation == operation
          && $0.program.identity == program && now < $0.end
      }?.grant
    }
  }

  /// Counts a use. The last one ends the grant.
  ///
  /// - Returns: Whether there was one left.
  package func use(_ grant: StandingGrant) -> Bool {
    let now = clock.bootMilliseconds()
    return state.withLock { state in
      guard let index = state.entries.firstIndex(where: { $0.grant === grant }),
        now < state.entries[index].end
      else { return false }
      guard let left = state.entries[index].usesLeft else { return true }
      state.entries[index].usesLeft = left - 1
      if left == 1 { state.entries.remove(at: index) }
      return true
    }
  }

  /// Keeps what a person has allowed, in the place of what they had allowed before. If there are too many, the oldest ends.
  ///
  /// - Parameter answer: More than once.
  package func keep(
    _ grant: StandingGrant, as answer: GrantAnswer, in file: FileIdentity, at path: String,
    named name: String, to program: MeasuredProgram, of core: VaultCore
  ) {
    let (seconds, uses): (Int64, Int?)
    switch answer {
    case .no, .once: return
    case .time(let time): (seconds, uses) = (time, nil)
    // This use is one of them.
    case .uses(let count): (seconds, uses) = (GrantAnswer.longest, count - 1)
    }
    let end = clock.bootMilliseconds() + UInt64(seconds) * 1000
    state.withLock { state in
      state.entries.removeAll {
        $0.file == file && $0.grant.item == grant.item && $0.grant.operation == grant.operation
          && $0.program.identity == program.identity
      }
      if state.entries.count >= Self.most { state.entries.removeFirst() }
      state.lastNumber += 1
      state.entries.append(
        Entry(
          number: state.lastNumber, grant: grant, file: file, path: path, name: name, program: program,
          end: end, usesLeft: uses))
    }
    // First kept, then looked: who locks looks in the other order.
    if !grant.isOfSession(of: core) { self.end(grant) }
    changed()
  }

  // MARK: Ends

  package func end(_ grant: StandingGrant) { remove { $0.grant === grant } }

  /// Ends what the vault does not accept any more. Reads the vault.
  package func endRefused(in file: FileIdentity, by core: VaultCore) {
    let grants = state.withLock { $0.entries.filter { $0.file == file }.map(\.grant) }
    for grant in grants where grant.isOver(in: core) { end(grant) }
  }

  /// The vault was locked.
  package func end(of file: FileIdentity) { remove { $0.file == file } }

  /// Ends what is over, and what programs had that are gone.
  ///
  /// - Parameter looks: Whether it looks at the programs in any case, and not only from time to time.
  /// - Returns: When this has to be called next, in milliseconds since boot; nil if there are no grants.
  @discardableResult
  package func endOver(looking looks: Bool = false) -> UInt64? {
    let now = clock.bootMilliseconds()
    let programs = state.withLock { state -> Set<MeasuredProgram.Identity> in
      guard looks || now >= state.looked + Self.leastLookMilliseconds else { return [] }
      state.looked = now
      return Set(state.entries.map(\.program.identity))
    }
    let gone = programs.filter { !MeasuredProgram.isThere($0, knowing: executables) }
    remove { now >= $0.end || gone.contains($0.program.identity) }
    return state.withLock { state in
      state.entries.map(\.end).min().map { min($0, state.looked + Self.lookMilliseconds) }
    }
  }

  /// Ends one grant, or all.
  ///
  /// - Parameter number: As ``all()`` has it; nil for all.
  /// - Returns: How many there were.
  package func revoke(_ number: Int64?) -> Int {
    endOver(looking: true)
    return remove { number == nil || $0.number == number }
  }

  @discardableResult
  private func remove(where isEnded: (Entry) -> Bool) -> Int {
    let ended = state.withLock { state -> [Entry] in
      let ended = state.entries.filter(isEnded)
      if !ended.isEmpty { state.entries.removeAll(where: isEnded) }
      return ended
    }
    // Their keys are wiped outside of the lock.
    return ended.count
  }

  /// All grants, the oldest first.
  package func all() -> [AgentGrant] {
    endOver(looking: true)
    let now = clock.bootMilliseconds()
    return state.withLock { $0.entries.map { $0 } }.map { entry in
      AgentGrant(
        number: entry.number, vault: entry.path, item: entry.name, itemID: entry.grant.item,
        operation: entry.grant.operation.words, program: entry.program.requester,
        left: .milliseconds(Int64(clamping: entry.end > now ? entry.end - now : 0)),
        usesLeft: entry.usesLeft)
    }
  }

  /// As many as are kept.
  package static let most = 1000
  /// How often it is looked whether the programs are still there, while nothing else wakes the agent.
  private static let lookMilliseconds: UInt64 = 60_000
  /// How often at most.
  private static let leastLookMilliseconds: UInt64 = 1000
}
