public import VaultKit

/// A consent to request, or to issue.
public struct NewConsent: Sendable {
  /// The vault-wide name, 1–255 bytes of UTF-8 whose characters are all visible.
  public var name: String
  /// The user, as the other system names the person: 1 to 255 bytes.
  public var user: String
  /// The card, as the other system names it: 1 to 255 bytes, and no card number.
  public var card: String
  /// The channel by which the code is to come, such as `sms`: 1 to 255 bytes; `nil` for the usual one.
  public var channel: String?
  /// When it can be confirmed. Constraints are refused: the code is what a person shows.
  public var accessibility = Accessibility.whenUnlocked

  /// A consent to the view of a card.
  public init(_ name: String, user: String, card: String) {
    (self.name, self.user, self.card) = (name, user, card)
  }

  /// The same consent, asked for again.
  init(_ item: Item) {
    self.init(
      item.name ?? "", user: item.attributes[.account] ?? "", card: item.attributes[.card] ?? "")
    channel = item.attributes[.channel]
    accessibility = item.access.accessibility
  }

  /// - Throws: ``VaultError/Code/malformed``.
  func check() throws(VaultError) {
    for (word, text) in [("user", user), ("card", card), ("channel", channel ?? "-")] {
      guard 1...255 ~= text.utf8.count, VisibleText.flaw(in: text) == nil else {
        throw VaultError(
          .malformed, "the \(word) of a consent has 1 to 255 bytes whose characters show",
          hint: "give it as the other system names it")
      }
    }
  }

  /// The item that stores it.
  ///
  /// - Parameter now: The wall time by which items expire.
  func item(
    _ role: ConsentRecord.Role, id: ItemID, session: ViewingSession?, clock: any VaultClock, now: Instant
  ) throws(VaultError) -> NewItem {
    try check()
    var attributes = Attributes()
    attributes[.account] = user
    attributes[.card] = card
    if let channel { attributes[.channel] = channel }
    attributes[.otpRole] = Int64(role.rawValue)
    var item = NewItem(
      .consent, name: name, attributes: attributes, access: AccessControl(accessibility, thisDeviceOnly: true)
    )
    item.id = id
    try item.limit(
      to: .seconds(Self.seconds), uses: CardConsent.mostAttempts, session: session, clock: clock, now: now)
    return item
  }

  /// How long a challenge lives.
  static let seconds = 300
}
