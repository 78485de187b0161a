/// What an item is. An open registry: kinds this version does not know are kept and never interpreted.
///
/// The numbers 0x8000–0xBFFF are for programs (``isOfPrograms``); no later version gives them a meaning.
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
  /// A one-time-password credential (HOTP, TOTP, Steam).
  public static let otp = ItemKind(rawValue: 16)
  /// A PIN that protects credentials.
  public static let pin = ItemKind(rawValue: 17)
  /// A biokey: 128 random bits registered with a server.
  public static let biokey = ItemKind(rawValue: 18)
  /// A short-lived card token.
  public static let cardToken = ItemKind(rawValue: 19)
  /// A consent challenge.
  public static let consent = ItemKind(rawValue: 20)
  /// An OAuth client registration.
  public static let clientRegistration = ItemKind(rawValue: 21)
  /// A transaction that a person accepts or rejects. It has no name; unique by account and label.
  public static let transaction = ItemKind(rawValue: 22)
  /// The tokens of an OAuth client. It has no name; unique by account, which is the identifier of its registration.
  public static let tokenSet = ItemKind(rawValue: 23)
  /// A signed answer of a server, kept until it expires.
  public static let responseJWT = ItemKind(rawValue: 24)
  /// A file that belongs to another item.
  public static let attachment = ItemKind(rawValue: 25)

  /// Whether programs define the kind, so that they may change the state of its items: 0x8000–0xBFFF.
  public var isOfPrograms: Bool { 0x8000...0xBFFF ~= rawValue }

  /// The attribute codes that make an item of this kind unique, in addition to access group and synchronizable.
  ///
  /// - Parameter isNamed: Whether the item has a name. A password with a name is unique by it alone, so that a person can keep
  ///   several of one service and account.
  package func primaryAttributes(isNamed: Bool) -> [UInt16] {
    switch self {
    case .genericPassword where !isNamed: [2, 3]
    case .internetPassword where !isNamed: [3, 15, 16, 17, 18, 19, 20]
    case .key: [8, 21, 22, 23, 24, 25, 26, 27, 28]
    case .certificate: [37, 40, 41]
    case .transaction: [3, 4]
    case .tokenSet: [3]
    default: [1]
    }
  }

  /// Whether the kind belongs to an authenticator component. Only the component changes its state, and only the
  /// component opens, adds or replaces its secret.
  package var isOfAuthenticator: Bool { 16...25 ~= rawValue }

  /// Whether this version knows what the secret of such an item is. Other items are listed, and never opened.
  package var isKnown: Bool { 1...4 ~= rawValue || isOfAuthenticator || isOfPrograms }

  /// Whether the secret is given after the expiry too, unless the item's policy refuses it: a person stores it, and needs the old
  /// password to change it.
  package var isGivenWhenExpired: Bool { self == .genericPassword || self == .internetPassword }

  /// Whether every item of this kind has a state row.
  package var hasState: Bool { 16...20 ~= rawValue }

  /// Whether an item of this kind can have a state row: later versions decide about kinds that this version does not
  /// know.
  package var mayHaveState: Bool { hasState || isOfPrograms || !isKnown }

  /// Whether items of this kind have a name.
  package var hasName: Bool { self != .transaction && self != .tokenSet }
}
