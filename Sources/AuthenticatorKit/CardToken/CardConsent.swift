public import VaultKit

/// A consent: a challenge that a person answers with a code.
public struct CardConsent: Sendable, Identifiable {
  /// Which side of a consent the vault is.
  @nonexhaustive
  public enum Role: String, Sendable, Hashable {
    /// Asks another system for the code, and stores none.
    case holder
    /// Makes the code, and judges it.
    case issuer
  }

  /// The item that stores it.
  public let id: ItemID
  /// Its name.
  public let name: String
  /// Which side the vault is. For display: what the item's secret says counts.
  public let role: Role
  /// What became of it. All but ``ConsentState/requested`` are final.
  public let status: ConsentState
  /// Whole seconds in which it can be confirmed, by the clock since boot; 0 if it waits no more.
  public let secondsLeft: Int
  /// How many codes can be tried; 0 if it waits no more.
  public let attemptsLeft: Int
  /// How often the code can be sent again; 0 if it waits no more.
  public let resendsLeft: Int
  /// The name of the challenge at the other system; `nil` for an issuer.
  public let challenge: String?
  /// The user, as the other system names the person.
  public let user: String
  /// The card, as the other system names it.
  public let card: String
  /// The channel by which the code comes; `nil` for the usual one.
  public let channel: String?
  /// Whether it belongs to a session.
  public let belongsToSession: Bool
  /// Whether it was asked for again by itself, in the place of one that had expired.
  public let isRenewed: Bool
  /// When it was requested.
  public let requested: Instant

  static let mostAttempts: UInt32 = 5
  static let mostResends: UInt16 = 3

  /// - Throws: ``VaultError/Code/itemNotFound`` for an item of another kind, ``VaultError/Code/unsupported`` for one that this
  ///   version does not understand.
  init(_ item: Item, _ state: ItemState, at moment: ExpiryMoment) throws(VaultError) {
    let life = try item.life(of: .consent)
    let attributes = item.attributes
    (id, name, requested) = (item.id, item.name ?? "", item.created)
    role = attributes[.otpRole] == 2 ? .issuer : .holder
    let stored = try state.consentState()
    let isOver = life.standing(moment.clock) != .valid || moment.hasExpired(item)
    status = stored == .requested && isOver ? .expired : stored
    let waits = status == .requested
    secondsLeft = waits ? Int(clamping: (life.millisecondsLeft(moment.clock) + 999) / 1000) : 0
    attemptsLeft = waits ? Int(Self.mostAttempts - min(state.failures, Self.mostAttempts)) : 0
    resendsLeft = waits ? Int(Self.mostResends - min(state.resends, Self.mostResends)) : 0
    (challenge, channel) = (attributes[.challenge], attributes[.channel])
    (user, card) = (attributes[.account] ?? "", attributes[.card] ?? "")
    belongsToSession = life.session != nil
    isRenewed = state.isRenewed
  }
}
