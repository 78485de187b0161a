public import VaultKit

/// A card token to store: everything but its secret.
public struct NewCardToken: Sendable {
  /// The vault-wide name, 1–255 bytes of UTF-8 whose characters are all visible.
  public var name: String
  /// How long it is valid, by the clock since boot: 1 second to 30 days. It ends with the boot.
  public var timeToLive: Duration
  /// How often it can be taken, 1 or more.
  public var uses: UInt32 = 1
  /// A label for people; no card number.
  public var label: String?
  /// Who may take it and when. A presence rule is advisory in this process, as ``Constraints`` says.
  public var access = AccessControl()
  /// Which operations on it are logged besides its uses, which always are.
  public var audit = AuditPolicy.changes

  /// A token for one use.
  public init(_ name: String, timeToLive: Duration) {
    (self.name, self.timeToLive) = (name, timeToLive)
  }

  /// Seconds for which a token can be valid.
  package static let lifeSeconds: ClosedRange<Int64> = 1...30 * 86_400
  /// How many bytes a token can have.
  package static let secretBytes = 1...64 << 10

  /// - Throws: ``VaultError/Code/malformed``.
  func check() throws(VaultError) {
    guard (.seconds(Self.lifeSeconds.lowerBound))...(.seconds(Self.lifeSeconds.upperBound)) ~= timeToLive
    else {
      throw VaultError(.malformed, "a card token is valid for 1 second to 30 days")
    }
    guard uses > 0 else { throw VaultError(.malformed, "a card token has at least one use") }
  }

  /// The item that stores it.
  ///
  /// - Parameter now: The wall time by which items expire.
  func item(
    id: ItemID, session: ViewingSession?, clock: any VaultClock, now: Instant
  ) throws(VaultError) -> NewItem {
    try check()
    var attributes = Attributes()
    if let label, !label.isEmpty { attributes[.label] = label }
    var item = NewItem(.cardToken, name: name, attributes: attributes, access: access, audit: audit)
    item.id = id
    try item.limit(to: timeToLive, uses: uses, session: session, clock: clock, now: now)
    item.state.usesLeft = uses
    return item
  }
}

extension NewItem {
  /// Makes it valid from now on for a time.
  ///
  /// - Throws: ``VaultError/Code/io`` where the boot cannot be told: the time would never be over.
  mutating func limit(
    to time: Duration, uses: UInt32, session: ViewingSession?, clock: any VaultClock, now: Instant
  ) throws(VaultError) {
    try clock.refuseWithoutBoot()
    let (seconds, attoseconds) = time.components
    let life = TokenLife(
      issued: clock.now(), issuedBootTime: clock.bootMilliseconds(), boot: clock.bootID() ?? [],
      length: UInt64(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000), mostUses: uses,
      session: session?.hash)
    tokenLife = life
    expires = max(
      life.expires, life.expires.advanced(byMilliseconds: now.milliseconds - life.issued.milliseconds))
  }
}
