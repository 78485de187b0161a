package import VaultFormat

/// A moment at which items are looked at, for lists and warnings: what has expired by then.
package struct ExpiryMoment: Sendable {
  /// The clock, by which tokens and consents end.
  package let clock: any VaultClock
  /// The time by which items expire: the wall clock's, or the recorded time.
  private let time: Instant

  init(_ clock: any VaultClock, time: Instant) { (self.clock, self.time) = (clock, time) }

  /// Whether the item has expired, as ``Gate/hasExpired(_:at:)`` says, and of a token or a consent also when it has ended. A read or a
  /// use is refused then unless ``Item/expiry`` is ``ExpiryRule/warn``.
  package func hasExpired(_ item: Item) -> Bool {
    if let life = item.tokenLife, !item.hasSecret || life.standing(clock) == .over { return true }
    return Gate.hasExpired(item, at: time)
  }
}

extension ReadTransaction {
  /// Whether the item has expired: by the wall clock, or by the time that the vault has recorded. ``Item/expiry`` says what follows.
  public mutating func hasExpired(_ item: Item) throws(VaultError) -> Bool {
    try readTime()
    return expiryMoment.hasExpired(item)
  }

  /// The moment of this state of the file. Outside of a change, ``readTime()`` comes first.
  package var expiryMoment: ExpiryMoment { ExpiryMoment(clock, time: expiryTime) }
}

extension VaultCore {
  /// The present moment, by the recorded time of the file as it is now.
  package func expiryMoment() throws(VaultError) -> ExpiryMoment {
    var transaction = try beginReading()
    try transaction.readTime()
    return transaction.expiryMoment
  }
}
