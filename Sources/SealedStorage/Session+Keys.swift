import SecretMemory
package import DeviceKeys
package import VaultFormat
import VaultKeys
import VaultCrypto
package import VaultStorage

extension Session {
  /// Header and slots as they are in the file now, not yet authenticated.
  package mutating func storedHeader() throws(VaultError) -> (
    row: HeaderRow, header: Header, slots: [SlotRow]
  ) {
    let row = try stored { () throws(StorageError) in try store.header() }
    let slots = try stored { () throws(StorageError) in try store.slots() }
    return (row, try Header(decoding: row.body), slots)
  }

  /// Inside a read transaction: the keys must be those of this state of the file.
  package mutating func refreshForReading() throws {
    let row = try stored { () throws(StorageError) in try store.header() }
    if row.body != keys.header.record.encoded { try adopt(row) }
  }

  /// Inside a write transaction: the head row, with its `config` compared first.
  package mutating func headForWriting() throws -> Head {
    if let head = try? head(), head.config == keys.header.config {
      try checkOlder(head)
      return head
    }
    let row = try stored { () throws(StorageError) in try store.header() }
    if row.body != keys.header.record.encoded { try adopt(row) }
    let head = try head()
    try keys.check(head)
    try checkOlder(head)
    return head
  }

  /// Checks the sum when the file has fewer commits than this session has seen. Either an older state of the whole file
  /// was put back, or it is damage: an older head row beside newer rows has good seals too.
  private mutating func checkOlder(_ head: borrowing Head) throws(VaultError) {
    if head.sequence < seenSequence { try checkSum(head) }
  }

  /// Takes over another `config` of the same generation; another generation needs the device key.
  private mutating func adopt(_ row: HeaderRow) throws {
    let slots = try stored { () throws(StorageError) in try store.slots() }
    let random = environment.random
    guard let ring = try KeyRing.reading(row, slots: slots, as: keys, random: random) else {
      throw KeysAreStale(deviceKey: try Header(decoding: row.body).deviceKey)
    }
    let head = try head(openedWith: ring.current)
    try ring.check(head)
    try checkOlder(head)
    take(ring, row)
  }

  /// Makes these the keys of the session. When their header has no passcode and the session had one, what the passcode
  /// guarded stays shut until the vault is opened again, because the holder of the device key can make such a header. A
  /// header that this session wrote is exempt.
  private mutating func take(_ ring: consuming KeyRing, _ row: HeaderRow) {
    var ring = ring
    if ring.header.hasPasscode {
      hasSeenPasscode = true
    } else if row == ownHeader {
      hasSeenPasscode = false
    } else if hasSeenPasscode {
      ring.shut()
    }
    keys = ring
  }

  /// Outside a transaction: the keys of the file as it is now. `false` when it changed again meanwhile.
  package mutating func reload(with key: borrowing DeviceKey) throws(VaultError) -> Bool {
    try stored { () throws(StorageError) in try store.beginRead() }
    defer { store.rollback() }
    let (row, header, slots) = try storedHeader()
    guard header.deviceKey == key.id else { return false }
    let ring = try KeyRing(header: row, slots: slots, deviceKey: key, random: environment.random)
    try ring.check(head(openedWith: ring.current))
    // Another process made these keys: drop what the passcode had opened, and what was verified.
    take(ring, row)
    identity = Self.nextIdentity()
    try checkOlder(try self.head())
    return true
  }

  /// Refuses to change or open what a passcode had guarded.
  ///
  /// - Throws: ``VaultError/Code/locked`` when another process has removed the passcode.
  package func refuseShut() throws(VaultError) {
    if keys.isShut { throw KeyRing.shutError }
  }

  /// Writes the head row of the commit under way.
  package mutating func seal(_ head: inout Head, seals: UInt64) throws(VaultError) {
    head.sequence += 1
    head.seals += seals + 1
    head.greatestWall = max(head.greatestWall, time.risen)
    try head.checkBounds()
    guard head.seals < RecordSeal.writeLimit else { throw VaultError(crypto: .writeLimitReached) }
    let content = head.encoded
    let body = try crypto { () throws(CryptoError) in
      try content.expose { span throws(CryptoError) in
        try keys.current.head.seal(span, aad: AssociatedData.head(vault), random: environment.random)
      }
    }
    try stored { () throws(StorageError) in try store.setHead(body) }
  }

  /// After a commit that deleted secrets or slots: the log is truncated now, or by a later open that can.
  ///
  /// - Parameter isPatient: Waits for readers, unless this session has already waited for one in vain.
  package mutating func clean(isPatient: Bool = true) {
    let isTruncated = try? store.checkpoint(truncate: true, isPatient: isPatient && !isLogHeld)
    isLogHeld = isTruncated != true
    if isLogHeld { return }
    do {
      try store.beginImmediate()
      var head = try headForWriting()
      guard head.cleaningPending else { return store.rollback() }
      head.cleaningPending = false
      try seal(&head, seals: 0)
      try store.commit()
    } catch { store.rollback() }
  }
}
