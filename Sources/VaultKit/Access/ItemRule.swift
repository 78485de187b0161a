import VaultFormat

/// What every caller must keep of items of one kind: the rules of its component that hold in the whole library, also
/// for programs that never call the component. A component adds the rules of its kind here.
struct ItemRule {
  /// Whether only the component changes the expiry.
  var fixesExpiry = false
  /// Whether its use ends at a deadline of its own. Its expiry only says until when it is kept.
  var hasDeadline = false
  /// Whether such an item stays while others are behind it: they are deleted in the same transaction, or it is not.
  var staysUnderOthers = false
  /// Attributes in which the component keeps what another system said, which are for people in items of other kinds.
  var fixedAttributes: Set<UInt16> = []

  private static let rules: [ItemKind: ItemRule] = [
    .pin: ItemRule(fixesExpiry: true, staysUnderOthers: true),
    .biokey: ItemRule(fixesExpiry: true),
    // The user.
    .cardToken: ItemRule(fixesExpiry: true, fixedAttributes: [3]),
    .consent: ItemRule(fixesExpiry: true, fixedAttributes: [3]),
    // The client and the issuer.
    .clientRegistration: ItemRule(fixedAttributes: [3, 40]),
    // The service and its name.
    .transaction: ItemRule(fixesExpiry: true, hasDeadline: true, fixedAttributes: [2, 40]),
    .responseJWT: ItemRule(fixesExpiry: true),
  ]

  static func of(_ kind: ItemKind) -> ItemRule { rules[kind] ?? ItemRule() }

  /// Whether an item is deleted a day after its expiry. What a person stores never is: only what ends by its protocol, and what a
  /// program defines. A PIN stays too, because the items behind it would never open again.
  static func endsByClock(_ item: Item) -> Bool {
    switch item.kind {
    case .cardToken, .consent, .transaction, .responseJWT: true
    // The end of an activation is its deadline, so that a date of it is a person's.
    default: item.kind.isOfPrograms
    }
  }

  /// Refuses a rule for items that are refused without one.
  ///
  /// - Throws: ``VaultError/Code/policy``.
  static func check(_ expiry: ExpiryRule, for kind: ItemKind) throws(VaultError) {
    guard expiry == .warn || kind.isGivenWhenExpired else {
      throw VaultError(
        .policy,
        "only a password has a rule for its expiry: an expired item of another kind is refused always",
        hint: "give the expiry alone")
    }
  }

  /// Refuses changes of an item of a component, or of a later version, that only the component may make.
  ///
  /// - Throws: ``VaultError/Code/policy``.
  static func check(_ changes: ItemChanges, of item: Item, by component: Component?) throws(VaultError) {
    let codes = changes.attributes.codes + changes.removed
    let name = Attribute<String>.name.code
    guard item.kind.hasName || !codes.contains(name) else { throw noName }
    if let expiry = changes.expiry { try check(expiry, for: item.kind) }
    if component == nil, let expires = changes.expires { try ItemLimits.check(expires: expires) }
    guard isForComponent(item), component?.kind != item.kind else { return }
    let rule = of(item.kind)
    // Also of a password with a name, so that what a later version made of it stays as it can be found.
    let primary = item.kind.primaryAttributes(isNamed: false)
    let fixed = rule.fixedAttributes.union(primary).subtracting([name])
    guard codes.allSatisfy({ ofPeople.contains($0) || 0x8000...0xBFFF ~= $0 }),
      fixed.isDisjoint(with: codes), changes.expires == nil || !rule.fixesExpiry
    else {
      throw VaultError(
        .policy, "only the component of the item's kind may change that",
        hint: "name, label, comment and attributes of your own can be changed")
    }
  }

  private static func isForComponent(_ item: Item) -> Bool {
    item.kind.isOfAuthenticator || item.isOfLaterVersion || item.kind == .key && !item.policy.isExportable
  }

  static var noName: VaultError {
    VaultError(.policy, "items of this kind have no name", hint: "use the identifier of the item")
  }

  /// Name, service, account, label, comment, description, generic, issuer.
  private static let ofPeople: Set<UInt16> = [1, 2, 3, 4, 5, 6, 7, 40]
}

extension ItemChanges {
  /// Whether the passcode guards the change: what leads to the item, says what it is for or ends it. Label, comment and
  /// description are remarks for people.
  var needPasscode: Bool {
    expires != nil || expiry != nil || audit != nil
      || !(attributes.codes + removed).allSatisfy(Self.remarks.contains)
  }

  private static let remarks: Set<UInt16> = [4, 5, 6]
}
