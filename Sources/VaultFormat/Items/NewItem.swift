/// An item to add.
public struct NewItem: Sendable {
  /// What it is.
  public var kind: ItemKind
  /// Its attributes.
  public var attributes: Attributes
  /// Who may use it and when.
  public var access: AccessControl
  /// Which operations on it are logged.
  public var audit: AuditPolicy
  /// The time from which it has expired, from 1970 to the end of the year 9999.
  public var expires: Instant?
  /// What becomes of it then. ``ExpiryRule/refuse`` is only for passwords: other kinds are refused without it.
  public var expiry = ExpiryRule.warn
  /// The state it starts with. An item of a program's own kind (``ItemKind/isOfPrograms``) has a state only if this is
  /// set before it is added. Ignored for kinds without a state, such as passwords.
  public var state: ItemState {
    get { givenState ?? ItemState() }
    set { givenState = newValue }
  }
  private var givenState: ItemState?
  /// Whether the secret of a key (``ItemKind/key``) may be read; without meaning for other kinds. **Advisory**: only a
  /// component adds and uses a key that is not exportable, and the library refuses to read its secret. Enforced by the keeper, out of
  /// which no program reads it.
  public var isExportable = true
  /// The identifier, 16 random bytes, if its component has bound the secret to it; `nil` for a new one.
  package var id: ItemID?
  /// Whether its secret is the record of an entry.
  package var isEntry = false
  /// Whether it belongs to the entry of its name, if there is one: it then has no name of its own, and the entry names it.
  package var joinsEntry = false
  /// The entry that it belongs to, whatever that is called; it then has no name of its own, as with ``joinsEntry``.
  package var owner: ItemID?
  /// What it was before, the oldest first: of a password with a name, at most five.
  package var former: [NewFormer] = []
  /// Until when it is in the trash, where it begins there. ``expires`` is the one that it has when it is put back.
  package var trashedUntil: Instant?
  /// The PIN that guards the key; only a component adds such an item.
  package var guardingPIN: GuardingPIN?
  /// How long a token or a consent is valid.
  package var tokenLife: TokenLife?

  /// What the item's policy requires besides its access control.
  package var requirements: Policy.Requirements {
    Policy.Requirements(life: tokenLife, pin: guardingPIN, expiry: expiry)
  }

  /// Whether the item gets a state row.
  package var hasState: Bool {
    switch kind.rules.state.presence {
    case .always: true
    case .sometimes: givenState != nil
    case .never: false
    }
  }

  /// An item to add.
  ///
  /// - Parameters:
  ///   - kind: What it is.
  ///   - name: The vault-wide name, 1–255 bytes of UTF-8 whose characters are all visible; `nil` for none. For a
  ///     generic password without an account, the name is also the account.
  ///   - attributes: Further attributes; none may be a secret.
  ///   - access: Accessibility and constraints.
  ///   - audit: What is logged.
  ///   - expires: The time from which it has expired.
  public init(
    _ kind: ItemKind, name: String? = nil, attributes: Attributes = Attributes(),
    access: AccessControl = AccessControl(), audit: AuditPolicy = .changes, expires: Instant? = nil
  ) {
    self.kind = kind
    self.attributes = attributes
    self.access = access
    self.audit = audit
    self.expires = expires
    guard let name else { return }
    self.attributes[.name] = name
    if kind == .genericPassword, self.attributes.bytes(of: Attribute<String>.account.code) == nil {
      self.attributes[.account] = name
    }
  }
}
