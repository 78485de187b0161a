import SecretMemory
package import DeviceKeys
package import VaultFormat
import VaultKeys
import VaultCrypto
package import VaultStorage

extension SealedStore {
  /// Header and slots as they are in the file now, not yet authenticated.
  package mutating func storedHeader() throws(VaultError) -> (
    row: HeaderRow, header: Header, slots: [SlotRow]
  ) {
    let row = try rows.header()
    let slots = try rows.slots()
    return (row, try Header(decoding: row.body), slots)
  }

  /// Inside a read transaction: makes the keys match this state of the file.
  package mutating func refreshForReading() throws {
    let row = try rows.header()
    if row.body != keys.header.record.encoded { try adopt(row) }
    noteRead()
  }

  /// Notes a commit of this session, after which nothing new is to be looked for.
  package mutating func noteOwn(_ commit: SeenCommit) {
    seen = commit
    // What it says was taken into account, and the protector is about to be told of this commit.
    witness = nil
    seenVersion = rows.dataVersion
  }

  /// What is only read counts as seen, too. A head row that does not open prevents no reading.
  private mutating func noteRead() {
    let version = rows.dataVersion
    guard seenVersion != version else { return }
    seenVersion = version
    if let head = try? head(), (try? isBehind(head)) == false { seen = head.commit }
  }

  /// Inside a write transaction: the head row, with its `config` compared first.
  package mutating func headForWriting() throws -> Head {
    if let head = try? head(), head.config == keys.header.config {
      try checkOlder(head)
      return head
    }
    let row = try rows.header()
    if row.body != keys.header.record.encoded { try adopt(row) }
    let head = try head()
    try keys.check(head)
    try checkOlder(head)
    return head
  }

  /// Checks the sum when the file has not all commits that were seen. Either an older state of the whole file was put back,
  /// or the file is damaged: an older head row beside newer rows also has valid seals.
  private mutating func checkOlder(_ head: borrowing Head) throws(VaultError) {
    guard try isBehind(head) else { return seen = head.commit }
    if !isForRepair { try checkSum(head) }
  }

  /// Takes over another `config` of the same generation; another generation needs the device key.
  private mutating func adopt(_ row: HeaderRow) throws {
    let slots = try rows.slots()
    let locks = locks
    guard let ring = try KeyRing.reading(row, slots: slots, as: keys, environment: environment) else {
      throw KeysAreStale(deviceKey: try Header(decoding: row.body).deviceKey)
    }
    let head = try head(openedWith: ring.current)
    try ring.check(head)
    try checkOlder(head)
    take(ring, row: row, at: locks)
  }

  /// Makes these the keys of the session. When their header has no passcode and the session had one, what the passcode
  /// protected stays shut until the vault is opened again, because the holder of the device key can make such a header.
  /// A header that this session wrote is exempt.
  ///
  /// - Parameter locks: ``locks`` before the keys were read.
  private mutating func take(_ ring: consuming KeyRing, row: HeaderRow, at locks: UInt64) {
    var ring = ring
    if ring.header.hasPasscode {
      hasSeenPasscode = true
    } else if row == ownHeader {
      hasSeenPasscode = false
    } else if hasSeenPasscode {
      ring.shut()
    }
    hold(ring, at: locks, madeBy: row == ownHeader ? .session : .other)
  }

  /// Outside a transaction: loads the keys of the file as it is now. `false` if the file changed again meanwhile.
  package mutating func reload(with key: borrowing DeviceKey) throws(VaultError) -> Bool {
    try rows.beginRead()
    defer { rows.rollback() }
    let (row, header, slots) = try storedHeader()
    guard header.deviceKey == key.id else { return false }
    let ring = try KeyRing(header: row, slots: slots, deviceKey: key, environment: environment)
    try ring.check(head(openedWith: ring.current))
    // Another process made these keys: drop what the passcode had opened, and what was verified.
    take(ring, row: row, at: locks)
    latch.renewIdentity()
    try checkOlder(try self.head())
    return true
  }

  /// Outside a transaction: whether everything that a passcode guards is open in the file as it is now. False where it cannot be read.
  ///
  /// Loads no device key: keys that only it opens are closed when they are read, unless this vault never had a passcode.
  package mutating func isUnlocked() -> Bool { (try? findsUnlocked()) ?? false }

  /// The same, for who asks for the passcode where it is false.
  ///
  /// - Throws: Why the file cannot be read.
  package mutating func findsUnlocked() throws -> Bool {
    try rows.beginRead()
    defer { rows.rollback() }
    do { try refreshForReading() } catch is KeysAreStale {
      let header = try storedHeader().header
      return !hasSeenPasscode && !header.hasPasscode
    }
    return keys.isUnlocked
  }

  /// Refuses to change or open what a passcode had protected.
  ///
  /// - Throws: ``VaultError/Code/locked`` when another process has removed the passcode.
  package func refuseShut() throws(VaultError) {
    if keys.isShut { throw KeyRing.shutError }
  }

  /// Writes the head row of the commit under way.
  package mutating func seal(_ head: inout Head, seals: UInt64) throws(VaultError) {
    head.advance()
    head.seals += seals + 1
    head.recorded = head.recorded.after(RecordedTime.Reading(environment.clock))
    try head.checkBounds()
    guard head.seals < RecordSeal.writeLimit else { throw VaultError(crypto: .writeLimitReached) }
    try rows.setHead(try keys.current.sealHead(head, in: vault, random: environment.random))
  }

  /// After a commit that deleted secrets or slots: truncates the log now, or leaves that to a later opening.
  ///
  /// - Parameter isPatient: Whether to wait for readers. The call does not wait if this session has already waited for
  ///   one in vain.
  package mutating func clean(isPatient: Bool = true) {
    let isTruncated = try? rows.checkpoint(truncate: true, isPatient: isPatient && !isLogHeld)
    isLogHeld = isTruncated != true
    if isLogHeld { return }
    do {
      try rows.beginImmediate()
      var head = try headForWriting()
      // In a copy or an older state the next transaction comes first: it marks what may have been used, which the rise of the
      // sequence here would hide.
      guard head.cleaningPending, try !isBehind(head), head.fileIdentity == rows.fileIdentity else {
        return rows.rollback()
      }
      head.cleaningPending = false
      try seal(&head, seals: 0)
      try rows.commit()
    } catch { rows.rollback() }
  }
}
