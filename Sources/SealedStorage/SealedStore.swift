package import VaultFormat
package import VaultKeys
import Synchronization
import VaultCrypto
package import VaultStorage
import TextPreparation

/// A store with the keys that open it. Every transaction works on one.
///
/// This is the front page of SealedStorage, the module in which rows and keys meet. It opens the rows of items, states,
/// secrets and log entries, and seals the head row, attributes and secrets. It checks that the file is whole: the head
/// row must belong to the header, and the sum over all rows must match. The module never asks a person, and does not
/// decide about access.
///
/// - ``VaultRows`` are the rows of the file, still sealed.
/// - ``ItemOpener`` opens the attributes and the policy of many items in sequence.
/// - ``SealedSecret`` is a secret as the file holds it, and ``ItemKeys`` are the keys that open it.
/// - ``AuditWalk`` checks the audit log.
/// - ``MovedItem`` and ``PreparedMove`` are items that a rotation seals for the next generation.
///
/// Read `VaultRows.swift` first, then this file, `ItemOpener.swift`, `SealedSecret.swift`, and the extensions `+Keys`,
/// `+Sum`, `+Log` and `+Moving`.
package struct SealedStore: ~Copyable, Sendable {
  package var rows: VaultRows
  package private(set) var keys: KeyRing
  package let environment: VaultEnvironment
  /// The last commit that this session has read or made, in head rows that opened.
  var seen = SeenCommit(sequence: 0)
  /// The commit that the protector remembers, of which no seal says that it is true.
  package var witness: SeenCommit?
  /// The version of the file whose commit is known.
  var seenVersion: UInt32?
  /// At the last attempt, a reader in another process prevented the truncation of the log.
  package var isLogHeld = false
  /// How many rows the opening checked because the file is a copy or an older state; `nil` where it is neither.
  package var checkedAsCopy: UInt64?
  /// The number of a commit that was seen here and is not in the file that was opened; `nil` if there is none.
  package var missingCommit: UInt64?
  /// Whether the protector remembers a commit that the file that was opened cannot have had.
  package var ignoresWitness = false
  /// Whether the vault was opened to check or to repair its rows: they may then be damaged.
  var isForRepair = false
  /// How the wall clock and the recorded time differed at the opening; `nil` where they did not, or not by a day.
  package var clockDoubt: ClockDoubt?
  /// Whether the vault had a passcode while this session read it.
  package var hasSeenPasscode: Bool
  /// The header that this session wrote last.
  package var ownHeader: HeaderRow?
  /// The row that was opened last in this transaction: one operation opens it several times.
  private var recentRow: ItemRow?
  private var recentItem: Item?
  /// The policy of the item that was opened last: the next item usually has the same policy, which is then read only
  /// once.
  private var policy: Policy?
  /// The process that the present transaction serves; `nil` if this process asks for itself.
  package var caller: Caller?
  /// The time by which items expire.
  package var time: VaultTime
  /// Locks the session, from any thread.
  package let latch: VaultLatch
  /// How many times the session had been locked when the present transaction began.
  private var locksAtBegin: UInt64 = 0

  package init(rows: consuming VaultRows, keys: consuming KeyRing, environment: VaultEnvironment) {
    self.rows = rows
    hasSeenPasscode = keys.header.hasPasscode
    latch = VaultLatch(keys.guarded)
    self.keys = keys
    self.environment = environment
    time = VaultTime(environment.clock)
  }

  /// See ``VaultLatch/identity``.
  package var identity: UInt64 { latch.identity }
  /// How many times the session was locked.
  package var locks: UInt64 { latch.locks }

  /// Makes these the keys of the session.
  ///
  /// - Parameters:
  ///   - locks: ``locks`` before they were read. After a lock meanwhile, what the passcode opened is wiped.
  ///   - origin: Who made them.
  package mutating func hold(_ ring: consuming KeyRing, at locks: UInt64, madeBy origin: VaultLatch.Origin) {
    latch.hold(ring.guarded, at: locks, madeBy: origin)
    keys = ring
  }

  /// Opens what the passcode opens.
  ///
  /// - Parameter locks: ``locks`` when the call began that the passcode was given to.
  /// - Throws: As ``KeyRing/unlocked(with:random:)``; ``VaultError/Code/appCancelled`` after a lock meanwhile.
  package func unlock(with passcode: PasscodeKeys, at locks: UInt64) throws(VaultError) {
    let unlocked = try keys.unlocked(with: passcode, random: environment.random)
    guard latch.open(unlocked, of: keys, at: locks) else {
      throw VaultError(.appCancelled, "the vault was locked meanwhile", hint: "try again")
    }
  }

  /// Ends work that has used what a lock wiped meanwhile. A transaction that changes the vault calls it before its commit, and long
  /// work calls it again and again.
  ///
  /// - Throws: ``VaultError/Code/locked``.
  package func refuseLockedMeanwhile() throws(VaultError) {
    if latch.locks != locksAtBegin, keys.guarded.isUsed { throw Self.lockedMeanwhile }
  }

  /// ``refuseLockedMeanwhile()`` of the present transaction, for a closure that cannot have the store.
  package var refusingLockedMeanwhile: () throws(VaultError) -> Void {
    { [latch, guarded = keys.guarded, locksAtBegin] () throws(VaultError) in
      if latch.locks != locksAtBegin, guarded.isUsed { throw Self.lockedMeanwhile }
    }
  }

  /// The error of work that a lock has ended.
  package static var lockedMeanwhile: VaultError {
    VaultError(.locked, "the vault was locked meanwhile", hint: "unlock it with the passcode")
  }

  package var vault: VaultID { keys.header.vault }
  package var now: Instant { environment.clock.now() }

  /// The keys of a row's generation. A missing generation belongs to another `config`.
  package func keys(of generation: UInt32) throws(VaultError) -> GenerationKeys {
    try opener.keys(of: generation)
  }

  // MARK: Items

  /// Opens an item's attributes and policy; content that does not match its clear columns is damage.
  package mutating func open(_ row: ItemRow) throws(VaultError) -> Item {
    if let recentItem, recentRow == row { return recentItem }
    var opener = opener
    let item = try unsafe opener.open(row.fields, row.meta.span.bytes)
    policy = opener.policy
    recall(item, of: row)
    return item
  }

  /// Begins a transaction. Keys may have changed since the last one, so what they opened is opened again.
  package mutating func begin() {
    recentRow = nil
    recentItem = nil
    locksAtBegin = latch.locks
    keys.guarded.beginUse()
  }

  /// Takes over an item that was opened before this transaction, with the same keys: ``open(_:)`` compares its row.
  package mutating func recall(_ item: Item, of row: ItemRow) {
    recentRow = row
    recentItem = item
  }

  private var opener: ItemOpener { ItemOpener(vault: vault, keys: keys, policy: policy) }

  /// The row of an item; the error says only that the item is absent.
  package mutating func row(of id: ItemID) throws(VaultError) -> ItemRow {
    guard let row = try rows.item(id: id.stored) else {
      throw VaultError(.itemNotFound, "there is no such item")
    }
    // The index that led here comes from the file, and no seal protects it.
    guard row.id == id.stored else { throw VaultError(.damaged, "the vault's index leads to another item") }
    return row
  }

  /// The item with this name in form C; `nil` where there is none. A name that another program has stored in another form leads to its
  /// item by its own bytes.
  package mutating func item(named name: String) throws(VaultError) -> Item? {
    let normal: String
    do throws(TextPreparationError) { normal = try TextPreparation.normalized(name) } catch {
      throw VaultError(error, in: "the name")
    }
    if let item = try item(named: Array(normal.utf8)) { return item }
    // Strings of two forms are equal.
    return normal.utf8.elementsEqual(name.utf8) ? nil : try item(named: Array(name.utf8))
  }

  private mutating func item(named name: [UInt8]) throws(VaultError) -> Item? {
    if let item = try item(named: name, under: keys.current) { return item }
    guard let previous = keys.previous else { return nil }
    return try item(named: name, under: previous)
  }

  private mutating func item(named name: [UInt8], under keys: GenerationKeys) throws(VaultError) -> Item? {
    let value = keys.blindIndex.name(name)
    var opener = opener
    var (found, failure): (Item?, VaultError?)
    try rows.withItem(name: value) { row, meta in
      do throws(VaultError) { found = try opener.open(row, meta) } catch { failure = error }
    }
    if let failure { throw failure }
    guard let item = found else { return nil }
    policy = opener.policy
    // The index that led here comes from the file, and no seal protects it.
    return item.attributes.hasName(name) ? item : nil
  }

  /// All matching items in the order of insertion.
  ///
  /// - Parameters:
  ///   - keepingPages: Whether the pages that were read stay in memory for later reads. Otherwise, and in a long list always, those
  ///     of each part of a walk over all rows are freed before the next part.
  ///   - damaged: Called with the id of each item that does not open, and the reason; the item is skipped. Without `damaged`,
  ///     such an item is an error.
  package mutating func items(
    matching query: Query, keepingPages: Bool = true, damaged: ((ItemID, VaultError) -> Void)? = nil
  ) throws(VaultError) -> [Item] {
    guard query.limit > 0 else { return [] }
    var query = query
    query.attributes = try query.attributes.normalized()
    let candidates = try candidates(for: query, damaged: damaged)
    var opener = opener
    var list: [Item] = []
    if let candidates {
      for row in candidates where list.count + opener.pending < query.limit {
        do throws(VaultError) {
          try unsafe opener.open(row.fields, row.meta.span.bytes, into: &list, where: query.lists)
        } catch {
          guard let damaged, error.isUnreadable else { throw error }
          damaged(ItemID(row.id), error)
        }
      }
      opener.finish(&list)
    } else {
      var last = Int64.min
      while true {
        let isKept = keepingPages && list.count < Self.mostKept
        let most = min(query.limit, isKept ? Self.mostKept : list.count + Self.mostTogether)
        let damage = try scan(after: last, with: &opener, into: &list, until: most, where: query.lists)
        opener.finish(&list)
        if let (row, error) = damage {
          guard let damaged, error.isUnreadable else { throw error }
          damaged(ItemID(row.id), error)
          last = row.row
        } else {
          guard list.count == most, most < query.limit, let end = list.last else { break }
          last = end.row
          rows.releasePages()
        }
      }
    }
    return list
  }

  /// Reads the next items of a walk. Returns the row that does not open, if the walk reached one.
  package mutating func readBatch(
    after number: Int64, policy: inout Policy?, into batch: inout [Item]
  ) throws(VaultError) -> (row: ItemFields, error: VaultError)? {
    var opener = ItemOpener(vault: vault, keys: keys, policy: policy ?? self.policy)
    let damage = try scan(after: number, with: &opener, into: &batch, until: Self.mostTogether) { _, _, _ in
      true
    }
    opener.finish(&batch)
    policy = opener.policy
    return damage
  }

  /// How many items a walk over all rows opens before it lets the pages that it has read go.
  private static let mostTogether = 256
  /// How many items of a list may keep the pages that were read. Beyond that, to read into the same few pages again is faster
  /// than to fill new ones (P10).
  private static let mostKept = 4096

  /// Opens rows until `count` items are in the list or pending. Returns the row that does not open, if the scan reached
  /// one.
  private mutating func scan(
    after number: Int64 = .min, with opener: inout ItemOpener, into list: inout [Item], until count: Int,
    where isWanted: (ItemFields, RawSpan, AccessControl) throws(VaultError) -> Bool
  ) throws(VaultError) -> (row: ItemFields, error: VaultError)? {
    var failure: (ItemFields, VaultError)?
    try rows.scanItems(after: number) { row, meta in
      do throws(VaultError) {
        try opener.open(row, meta, into: &list, where: isWanted)
        return list.count + opener.pending < count
      } catch {
        failure = (row, error)
        return false
      }
    }
    return failure
  }

  /// The rows that an id, a name or an indexed attribute leads to; `nil` if only a scan can answer.
  private mutating func candidates(
    for query: Query, damaged: ((ItemID, VaultError) -> Void)?
  ) throws(VaultError) -> [ItemRow]? {
    if let id = query.id {
      return try rows.item(id: id.stored).map { [$0] } ?? []
    }
    var found: [ItemRow] = []
    for keys in [keys.current, keys.previous].compactMap({ $0 }) {
      let index = keys.blindIndex
      if let name = index.name(of: query.attributes) {
        if let row = try rows.item(name: name) {
          found.append(row)
        }
      } else if let code = indexedAttributeCodes.first(where: { query.attributes.bytes(of: $0) != nil }) {
        let value = index.value(code, query.attributes.bytes(of: code)!)
        let numbers = try rows.rows(blind: value)
        for number in numbers {
          if let row = try rows.item(row: number) {
            found.append(row)
            continue
          }
          let error = VaultError(.damaged, "the index names an item that does not exist")
          guard let damaged else { throw error }
          damaged(.zero, error)
        }
      } else {
        return nil
      }
    }
    if found.count > 1 { found.sort { $0.row < $1.row } }
    return found
  }

  // MARK: Secrets

  /// An item's sealed secret, to be opened with the keys that the gate gives for it.
  package mutating func sealedSecret(of row: ItemRow, _ item: Item) throws(VaultError) -> SealedSecret {
    guard item.hasSecret else { throw VaultError(.itemNotFound, "the item has no secret") }
    let material = try rows.material(row: row.row)
    return try SealedSecret(vault, row, item.policy, material)
  }

  // MARK: State

  /// An item's state with its revision; `nil` where its kind has none. A missing one is damage, never a fresh counter.
  package mutating func state(of row: ItemRow) throws(VaultError) -> (state: ItemState, row: StateRow)? {
    let kind = ItemKind(rawValue: row.kind)
    guard let stored = try rows.state(row: row.row) else {
      guard kind.hasState else { return nil }
      throw Self.stateIsMissing
    }
    do throws(VaultError) {
      let bytes = try openState(stored, item: row.id, generation: row.generation)
      return (try ItemState(bytes: bytes), stored)
    } catch {
      // Beside an item that needs none, one that does not open is none of the vault: something else added it.
      guard error.code == .damaged, !kind.mayHaveState else { throw error }
      return nil
    }
  }

  /// Calls the body with each of these items and its state, for lists: one walk over the rows in place of a query for each. A
  /// state that the body keeps costs an allocation.
  ///
  /// Items in a state that this version does not know are left out: those for which the opening or the body throws
  /// ``VaultError/Code/unsupported``.
  ///
  /// - Parameters:
  ///   - items: Items of kinds that have a state, in the order of insertion, opened in the same transaction: a state of another
  ///     generation than that of its item is damage.
  ///   - damaged: Called with each item whose state is damaged or missing, and the reason; the item is skipped. Without it, such
  ///     a state is an error.
  package mutating func forEachState(
    of items: [Item], damaged: ((ItemID, VaultError) -> Void)? = nil,
    _ body: (Item, ItemState) throws(VaultError) -> Void
  ) throws(VaultError) {
    let (opener, vault) = (opener, vault)
    var (index, state) = (0, ItemState())
    while index < items.count {
      let first = index
      var others = 0
      var failure: VaultError?
      try rows.scanStates(from: items[index].row) { row, revision, sealed in
        let item = items[index]
        guard row == item.row else {
          others += 1
          return row < item.row && others <= Self.mostOthers
        }
        do throws(VaultError) {
          let keys = try opener.keys(of: item.generation)
          try keys.openState(sealed, revision: revision, of: item.id.stored, in: vault, into: &state)
          try body(item, state)
        } catch {
          if error.code == .damaged, let damaged {
            damaged(item.id, error)
          } else if error.code != .unsupported {
            failure = error
            return false
          }
        }
        (index, others) = (index + 1, 0)
        return index < items.count && items[index].row > row
      }
      if let failure { throw failure }
      // The walk began at the state of the first item.
      guard index == first else { continue }
      guard let damaged else { throw Self.stateIsMissing }
      damaged(items[index].id, Self.stateIsMissing)
      index += 1
    }
  }

  /// How many states of other items a walk passes before it looks up the next one: a lookup costs as much as this many steps.
  private static let mostOthers = 8

  private static var stateIsMissing: VaultError {
    VaultError(.damaged, "an item's state is missing", hint: "restore the vault from a backup")
  }

  /// The vault's own state, row 0.
  package mutating func vaultState() throws(VaultError) -> (state: VaultState, row: StateRow) {
    do throws(VaultError) {
      guard let row = try rows.state(row: 0) else {
        throw VaultError(.damaged, "the vault's own state is missing")
      }
      let generation = try GenerationKeys.generation(of: row.body)
      let bytes = try openState(row, item: ItemID.zero.stored, generation: generation)
      return (try VaultState(bytes: bytes), row)
    } catch {
      guard error.code == .damaged else { throw error }
      throw VaultError(
        .damaged, "the vault's own state, with its count of wrong passcodes, does not open",
        hint: .renewVaultState)
    }
  }

  /// The vault's own state; `nil` where it is damaged.
  package mutating func vaultStateIfSound() throws(VaultError) -> VaultState? {
    do throws(VaultError) { return try vaultState().state } catch {
      guard error.code == .damaged else { throw error }
      return nil
    }
  }

  private func openState(_ row: StateRow, item: Bytes16, generation: UInt32) throws(VaultError) -> [UInt8] {
    let keys = try keys(of: generation)
    return try keys.openState(row, of: item, in: vault)
  }

  // MARK: Head

  /// The head row of this state of the file.
  package mutating func head() throws(VaultError) -> Head { try head(openedWith: keys.current) }

  /// The head row opened with the keys of a header that is about to be taken over.
  package mutating func head(openedWith keys: GenerationKeys) throws(VaultError) -> Head {
    let head = try keys.openHead(try rows.head(), in: vault)
    time.recorded = head.recorded
    return head
  }

  /// Reads the recorded time of this state of the file, for an item that expires.
  package mutating func readTime(for item: Item) throws(VaultError) {
    if item.expires != nil { _ = try head() }
  }
}
