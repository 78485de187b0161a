public import VaultKit

/// A card token without its secret.
public struct CardToken: Sendable, Identifiable {
  /// Whether it can be taken.
  @nonexhaustive
  public enum Status: String, Sendable, Hashable {
    /// It can be taken.
    case valid
    /// Its time, its uses or its session are over, or it was revoked. Its secret is deleted.
    case ended
  }

  /// The item that stores it.
  public let id: ItemID
  /// Its name.
  public let name: String
  /// Whether it can be taken.
  public let status: Status
  /// How often it can be taken; 0 if it has ended.
  public let usesLeft: Int
  /// Whole seconds in which it can be taken, by the clock since boot; 0 if it has ended.
  public let secondsLeft: Int
  /// Whether it belongs to a session.
  public let belongsToSession: Bool
  /// Whether a person must show something before it is taken.
  public let asksPerson: Bool
  /// When it was stored.
  public let stored: Instant
  /// The label for people; `nil` if it has none.
  public let label: String?
  /// The user, as the system that gave it names the person; `nil` for a token that came without a consent.
  public let user: String?
  /// The card, as that system names it; `nil` for a token that came without a consent.
  public let card: String?

  /// - Throws: ``VaultError/Code/itemNotFound`` for an item of another kind, ``VaultError/Code/unsupported`` for one that this
  ///   version does not understand.
  init(_ item: Item, _ state: ItemState, at moment: ExpiryMoment) throws(VaultError) {
    let life = try item.life(of: .cardToken)
    let attributes = item.attributes
    (id, name, stored) = (item.id, item.name ?? "", item.created)
    let isValid = life.standing(moment.clock) == .valid && !moment.hasExpired(item)
    status = isValid ? .valid : .ended
    usesLeft = isValid ? Int(state.usesLeft) : 0
    secondsLeft = isValid ? Int(clamping: (life.millisecondsLeft(moment.clock) + 999) / 1000) : 0
    belongsToSession = life.session != nil
    asksPerson = item.access.asksPerson
    label = attributes[.label]
    (user, card) = (attributes[.account], attributes[.card])
  }
}

extension Item {
  /// How long a token or a consent is valid.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound`` for an item of another kind, ``VaultError/Code/unsupported`` for one without.
  func life(of kind: ItemKind) throws(VaultError) -> TokenLife {
    guard self.kind == kind else {
      throw VaultError(
        .itemNotFound, kind == .cardToken ? "there is no such card token" : "there is no such consent")
    }
    guard let life = try policy.requirements().life else {
      throw VaultError(
        .unsupported, "the item has no time to live, so this version does not use it", hint: .useNewerVersion)
    }
    return life
  }
}

extension TokenLife {
  /// Refuses a session that is not the one of the item.
  ///
  /// - Throws: ``VaultError/Code/verificationNeeded`` without one, ``VaultError/Code/policy`` for another one.
  func refuseOther(_ given: ViewingSession?) throws(VaultError) {
    guard let session else { return }
    let hint = Hint.giveSession
    guard let given else {
      throw VaultError(.verificationNeeded, "it belongs to a session, and none was given", hint: hint)
    }
    guard given.hash == session else {
      throw VaultError(.policy, "it belongs to another session", hint: hint)
    }
  }
}

extension Attribute where Value == String {
  /// The name of a consent's challenge at the other system.
  static var challenge: Self { Self(code: 87) }
  /// The channel by which the code of a consent comes.
  static var channel: Self { Self(code: 88) }
  /// The card of a consent or a token, as the other system names it.
  static var card: Self { Self(code: 89) }
}
