import DeviceKeys
import SealedStorage
import VaultFormat
import VaultKeys
import SecretMemory
import VaultCrypto
import VaultLogging
import VaultStorage

extension VaultCore {
  /// Opens a vault: checks its place, schema, device key, header MAC and head row, and in a small vault also the sum
  /// over all rows.
  ///
  /// - Parameters:
  ///   - protector: `nil` for the protector that the header names.
  ///   - checkingRows: Whether to throw when the rows differ from those that the head row counts. `false` for
  ///     commands that find or remove such damage.
  /// - Throws: ``VaultError/Code/vaultMissing``, ``VaultError/Code/damaged``, ``VaultError/Code/newerFormat``,
  ///   ``VaultError/Code/olderFormat``,
  ///   the `deviceKey…` codes, ``VaultError/Code/io``. Nothing is created.
  package static func open(
    at path: String, protector: (any Protector)? = nil, checkingRows: Bool = true,
    environment: VaultEnvironment = .system
  ) throws(VaultError) -> VaultCore {
    do throws(VaultError) {
      let core = try opened(
        at: path, protector: protector, checkingRows: checkingRows, environment: environment)
      VaultLog.info(.vaultStorage, "opened \(address: path), read-only: \(core.isReadOnly)")
      if let commit = core.missingCommit {
        VaultLog.warning(.vaultStorage, "commit \(commit), which was seen here, is not in \(address: path)")
      }
      if core.ignoresWitness {
        VaultLog.warning(.vaultStorage, "the remembered commit of \(address: path) cannot be true: ignored")
      }
      return core
    } catch {
      VaultLog.error(.vaultStorage, "\(address: path) does not open: \(error.code)")
      throw error
    }
  }

  private static func opened(
    at path: String, protector: (any Protector)?, checkingRows: Bool, environment: VaultEnvironment
  ) throws(VaultError) -> VaultCore {
    var race = KeyRace()
    while race.mayTry() {
      var rows = try VaultRows.open(at: path, access: .readWrite, patience: environment.patience)
      let header = try Header(decoding: try rows.header().body)
      try refuseForeign(header, environment: environment)
      let chosen: any Protector
      if let protector { chosen = protector } else { chosen = try environment.protector(header.protector) }
      guard let key = try presentKey(of: header, protector: chosen, rows: &rows) else { continue }
      // Ask before the file is read: the state that is read afterwards then has at least this commit.
      let seen = chosen.seenCommit(under: key.id, of: header.vault)
      guard
        let store = try store(
          of: consume rows, key: key, environment: environment, seen: seen, checkingRows: checkingRows)
      else { continue }
      let core = VaultCore(store, protector: chosen)
      // A full disk or one damaged row must not prevent reading everything else. The next opening tries again.
      try? core.tidy()
      core.finishPromotion()
      return core
    }
    throw KeyRace.lost
  }

  /// The parts of a vault that can be read without any key.
  package static func outline(at path: String) throws(VaultError) -> VaultOutline {
    try VaultOutline(at: path)
  }

  /// The key that the header names; `nil` if another process has replaced it in the meantime.
  private static func presentKey(
    of header: Header, protector: any Protector, rows: inout VaultRows
  ) throws(VaultError) -> DeviceKey? {
    do throws(VaultError) { return try DeviceKeys(protector, of: header.vault).load(header.deviceKey) } catch
    {
      let now = try Header(decoding: try rows.header().body)
      guard now.deviceKey == header.deviceKey else { return nil }
      throw error
    }
  }

  /// The opened session, or `nil` if another process rotated the device key in the meantime.
  private static func store(
    of rows: consuming VaultRows, key: borrowing DeviceKey, environment: VaultEnvironment, seen: SeenCommit?,
    checkingRows: Bool
  ) throws(VaultError) -> SealedStore? {
    var rows = rows
    try rows.beginRead()
    let row = try rows.header()
    let slots = try rows.slots()
    guard try Header(decoding: row.body).deviceKey == key.id else { return nil }
    let ring = try KeyRing(header: row, slots: slots, deviceKey: key, environment: environment)
    var store = SealedStore(rows: rows, keys: ring, environment: environment)
    store.witness = seen
    try store.checkFile(checkingRows: checkingRows)
    store.rows.rollback()
    return store
  }

  /// What the opening found wrong between the wall clock and the recorded time, by more than a day.
  package var clockDoubt: ClockDoubt? { withStore { $0.clockDoubt } }

  /// The counts of the vault that are near their end, in words.
  package func countsNearEnd() throws(VaultError) -> [String] {
    var transaction = try beginReading()
    return try transaction.store.head().countsNearEnd()
  }

  /// Finishes what earlier sessions left: a pending truncation, and items that expired more than a day ago.
  private func tidy() throws(VaultError) {
    var transaction = try beginReading()
    let due = try transaction.due()
    transaction.end()
    if due.isReadOnly { return }
    if due.deletes {
      var transaction = try beginWriting()
      try transaction.purgeExpired()
      try transaction.commit()
    } else if due.notesClock {
      var transaction = try beginWriting()
      transaction.noteClock()
      try transaction.commit()
    }
    session.endTimer.set(due.tokenEnd, of: session, clock: environment.clock)
    if due.endsItems { endItems() }
    // Each command runs this, so it must not wait for a reader that takes hours.
    if due.cleans { withStore { $0.clean(isPatient: false) } }
  }

  /// How long an expired item still answers "expired" before it is deleted, in milliseconds.
  static let expiredKept: Int64 = 24 * 3600 * 1000
}

/// What an opening finds to do.
private struct Due {
  let isReadOnly: Bool
  /// Items have expired, and the recorded time says so too.
  let deletes: Bool
  /// The clock has something to say that decides what is deleted later.
  let notesClock: Bool
  let cleans: Bool
  /// A token or a consent is over, by one of the clocks.
  let endsItems: Bool
  let tokenEnd: NextTokenEnd
}

extension ReadTransaction {
  /// - Returns: What is due. Keeps in the store what the clocks disagree about.
  fileprivate mutating func due() throws(VaultError) -> Due {
    let head = try store.head()
    let (wall, day) = (store.now, RecordedTime.mostAtOnce)
    if head.recorded.time > wall.advanced(byMilliseconds: day) { store.clockDoubt = .isBehind }
    var (isDue, isNews) = (false, false)
    // Other vaults are opened without a look at the boot.
    if head.earliestExpiry != 0 || head.recorded.candidate != nil {
      let (time, risen) = (store.time, store.time.risen)
      func isPast(_ now: Instant) -> Bool {
        head.earliestExpiry != 0
          && head.earliestExpiry <= now.advanced(byMilliseconds: -VaultCore.expiredKept).milliseconds
      }
      let looksDue = isPast(wall)
      isDue = looksDue && isPast(risen.time)
      if looksDue, !isDue, wall > risen.time.advanced(byMilliseconds: day) { store.clockDoubt = .isAhead }
      // A vault that is only read would never learn that two boots agree, nor that a clock was wrong.
      isNews = risen.candidate != head.recorded.candidate && (looksDue || time.refutesCandidate)
    }
    return Due(
      isReadOnly: store.rows.isReadOnly, deletes: isDue, notesClock: isNews, cleans: head.cleaningPending,
      endsItems: try hasItemToEnd(head.nextTokenEnd), tokenEnd: head.nextTokenEnd)
  }
}

extension WriteTransaction {
  /// Lets the commit write what the clocks say.
  fileprivate mutating func noteClock() { changes.isDirty = true }

  /// Deletes the items that expired more than a day ago, by the wall clock and the recorded time, and that end by the clock
  /// (``ExpiryRules/endsByClock``). So what a person stores stays. So does what may have a deadline of this boot that passed less than
  /// two days ago by the clock since boot, such as a transaction: the wall clock is ahead then, and what was decided could be decided
  /// again. And so does what this program does not know, which another program may have to delete. Both are looked at again after a
  /// day.
  mutating func purgeExpired() throws(VaultError) {
    let now = store.time.ofDeletion
    let limit = now.advanced(byMilliseconds: -VaultCore.expiredKept).milliseconds
    let rows = try store.rows.expired(before: .max)
    var earliest: Int64 = 0
    for number in rows {
      guard let row = try store.rows.item(row: number),
        let expires = row.expires
      else { continue }
      var next: Int64?
      if expires > limit {
        next = max(expires, 1)
      } else if try isKept(row) {
        next = now.milliseconds
      }
      if let next { earliest = earliest == 0 ? next : min(earliest, next) }
    }
    head.earliestExpiry = earliest
    changes.isDirty = true
  }

  /// Deletes an item that expired more than a day ago if it ends by the clock, or is in the trash.
  ///
  /// - Returns: Whether it stays, and is to be looked at again.
  private mutating func isKept(_ row: ItemRow) throws(VaultError) -> Bool {
    let item: Item
    do throws(VaultError) { item = try store.open(row) } catch {
      guard error.isUnreadable else { throw error }
      return error.isNewerVersion
    }
    if !item.isInTrash {
      guard item.kind.rules.expiry.endsByClock else { return item.isOfLaterVersion }
      guard !mayHaveRecentDeadline(item) else { return true }
    }
    try remove(row, item: item, as: .expiredPurged)
    return false
  }

  private mutating func mayHaveRecentDeadline(_ item: Item) -> Bool {
    var found: ItemState?
    if item.kind.hasState {
      // What is damaged stays, as does an item that does not open.
      guard let state = try? state(of: item.id) else { return true }
      found = state
    }
    guard let deadline = item.kind.rules.expiry.deadline(item.attributes, found) else { return false }
    let now = BootTime(store.environment.clock)
    guard let boot = now.boot else { return true }
    guard deadline.boot == boot else { return false }
    return now.milliseconds < deadline.milliseconds
      || now.milliseconds - deadline.milliseconds < UInt64(2 * VaultCore.expiredKept)
  }
}
