import VaultFormat

/// What every caller must keep of items of a kind, by its ``KindRules``, also in programs that never call the component.
enum ItemRule {
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
  /// - Throws: ``VaultError/Code/policy``; ``VaultError/Code/unsupported`` where only a component that is not linked knows
  ///   what the change means.
  static func check(_ changes: ItemChanges, of item: Item, by component: Component?) throws(VaultError) {
    guard !item.isInTrash else { throw Gate.inTrash(item) }
    let codes = changes.attributes.codes + changes.removed
    let name = Attribute<String>.name.code
    guard item.kind.hasName || !codes.contains(name) else { throw noName }
    if let expiry = changes.expiry { try check(expiry, for: item.kind) }
    if component == nil, let expires = changes.expires { try ItemLimits.check(expires: expires) }
    guard isForComponent(item), component?.kind != item.kind else { return }
    let rules = item.kind.rules
    // A name that an item of an unknown kind does not have may be one that its component made it unique without.
    let ofComponent = rules.attributes.fixed.union(item.name == nil ? [name] : [])
    guard rules.isKnown || ofComponent.isDisjoint(with: codes) else { throw .unknownKind(item.kind) }
    // Also of a password with a name, so that what a later version made of it stays as it can be found.
    let fixed = rules.attributes.fixed.union(rules.attributes.primary ?? []).subtracting([name])
    guard codes.allSatisfy({ ofPeople.contains($0) || 0x8000...0xBFFF ~= $0 }),
      fixed.isDisjoint(with: codes), changes.expires == nil || !rules.expiry.isFixed
    else {
      throw VaultError(
        .policy, "only the component of the item's kind may change that",
        hint: "name, label, comment and attributes of your own can be changed")
    }
  }

  private static func isForComponent(_ item: Item) -> Bool {
    item.isOfLaterVersion || item.kind.rules.isOfComponent(isExportable: item.policy.isExportable)
  }

  static var noName: VaultError {
    VaultError(.policy, "items of this kind have no name", hint: "use the identifier of the item")
  }

  /// Name, service, account, label, comment, description, generic, issuer, tags.
  private static let ofPeople: Set<UInt16> = [1, 2, 3, 4, 5, 6, 7, 40, 97]
}

extension ItemChanges {
  /// Whether the passcode guards the change: what leads to the item, says what it is for, ends it or ends its former
  /// secrets. Label, comment and description are remarks for people.
  var needPasscode: Bool {
    expires != nil || expiry != nil || audit != nil || forgetsFormer
      || !(attributes.codes + removed).allSatisfy(Self.remarks.contains)
  }

  private static let remarks: Set<UInt16> = [4, 5, 6]
}
