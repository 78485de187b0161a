/// What an item is. An open registry: kinds this version does not know are kept and never interpreted.
///
/// The kinds here are the vault's own. A library of components adds its kinds, and their rules. The numbers 0x8000–0xBFFF are for programs (``isOfPrograms``); no later version gives them a meaning.
public struct ItemKind: RawRepresentable, Hashable, Sendable {
  /// The number or word in the file.
  public let rawValue: UInt32
  /// A value of this number or word.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// A password or any other secret of a program; unique by its name or, without one, by service and account.
  public static let genericPassword = ItemKind(rawValue: 1)
  /// A password of a server; unique by its name or, without one, by server, account, protocol, port and path.
  public static let internetPassword = ItemKind(rawValue: 2)
  /// A private or symmetric key.
  public static let key = ItemKind(rawValue: 3)
  /// A certificate.
  public static let certificate = ItemKind(rawValue: 4)

  /// Whether programs define the kind, so that they may change the state of its items: 0x8000–0xBFFF.
  public var isOfPrograms: Bool { 0x8000...0xBFFF ~= rawValue }

  /// Whether this program knows what the secret of such an item is. Other items are listed, and never opened.
  package var isKnown: Bool { rules.isKnown }

  /// Whether the secret is given after the expiry too, unless the item's policy refuses it.
  package var isGivenWhenExpired: Bool { rules.expiry.isGivenAfter }

  /// Whether every item of this kind has a state row.
  package var hasState: Bool { rules.state.presence == .always }

  /// Whether an item of this kind can have a state row.
  package var mayHaveState: Bool { rules.state.presence != .never }

  /// Whether items of this kind have a name.
  package var hasName: Bool { rules.attributes.hasName }
}
