import SealedStorage
import VaultFormat

/// The part of the decision that needs no key and no person: what kind, flags and policy of an item permit.
extension Gate {
  /// Decides by kind, flags and policy whether a caller may do this with an item's secret.
  ///
  /// - Throws: ``VaultError/Code/policy`` for a secret of a component, ``VaultError/Code/unsupported`` for an item that
  ///   this version does not understand, ``VaultError/Code/verificationNeeded`` without its PIN or its session.
  static func permit(
    _ operation: ItemOperation, on item: Item, by component: Component?
  ) throws(VaultError) {
    if let missing = try missingFromComponent(operation, on: item, by: component) { throw missing }
  }

  /// As ``permit(_:on:by:)``, but returns what the component must give besides: the PIN of the item, or its session.
  static func missingFromComponent(
    _ operation: ItemOperation, on item: Item, by component: Component?
  ) throws(VaultError) -> VaultError? {
    guard operation.concernsSecret else { return nil }
    try refuseUnlessOwner(of: item.kind, component, isExportable: item.policy.isExportable)
    guard !item.hasFlagOfLaterVersion, item.policy.fits(item.kind) else { throw ofLaterVersion }
    guard !item.isInTrash || operation == .exportOfAll else { throw inTrash(item) }
    return try missing(item.policy.requirements(), of: item.kind, by: component)
  }

  /// Decides whether an item can have the content of an entry.
  ///
  /// - Throws: ``VaultError/Code/policy`` for an item of another kind.
  static func permitEntry(_ item: Item) throws(VaultError) { try permitEntry(item.kind) }

  static func permitEntry(_ kind: ItemKind) throws(VaultError) {
    guard kind.rules.canBeEntry else {
      throw VaultError(
        .policy, "only a password has notes, fields and addresses", hint: "make an entry of its own for them")
    }
  }

  /// Decides whether the present secret of an item may be sealed again for another audit policy. Nobody sees it.
  ///
  /// - Throws: ``VaultError/Code/unsupported`` for an item of a later version.
  static func permitSealingAgain(_ item: Item) throws(VaultError) {
    guard !item.isOfLaterVersion else { throw ofLaterVersion }
  }

  /// Decides whether a caller may add an item of this kind with such a policy.
  ///
  /// - Throws: As ``permit(_:on:by:)``.
  static func permit(adding new: NewItem, by component: Component?) throws(VaultError) {
    do throws(VaultError) {
      try refuseUnlessOwner(of: new.kind, component, isExportable: new.isExportable)
    } catch {
      guard error.code == .policy else { throw error }
      throw VaultError(.policy, "only the component of its kind adds such an item", hint: .addWithComponent)
    }
    try ItemRule.check(new.expiry, for: new.kind)
    if component == nil { try ItemLimits.check(expires: new.expires) }
    if let missing = try missing(new.requirements, of: new.kind, by: component) { throw missing }
    try new.kind.rules.attributes.check(new.attributes)
    guard new.kind.hasName || new.attributes.bytes(of: Attribute<String>.name.code) == nil else {
      throw ItemRule.noName
    }
  }

  private static func refuseUnlessOwner(
    of kind: ItemKind, _ component: Component?, isExportable: Bool
  ) throws(VaultError) {
    if component?.kind == kind { return }
    switch kind.rules.secret {
    case .everybody: return
    case .componentUnlessExportable where isExportable: return
    case .component(let name, let hint), .componentUnlessExportable(let name, let hint):
      throw VaultError(
        .policy, "the item is \(name), whose secret only its component uses",
        hint: hint ?? "use it through its component")
    case .unknown:
      throw VaultError(
        .unsupported, "this version does not know what the item is, and does not open it", hint: .useComponent
      )
    }
  }

  private static func missing(
    _ required: Policy.Requirements, of kind: ItemKind, by component: Component?
  ) throws(VaultError) -> VaultError? {
    guard required.areAllowed(for: kind) else { throw ofLaterVersion }
    guard required.pin?.mode == nil || required.pin?.mode == component?.pin?.mode else {
      return VaultError(
        .verificationNeeded, "a PIN guards the item, and it was not given", hint: "give the PIN")
    }
    guard required.life?.session == nil || component?.session != nil else {
      return VaultError(
        .verificationNeeded, "the item belongs to a session, which was not given", hint: .giveSession)
    }
    return nil
  }

  /// Why nothing is done with an item in the trash.
  static func inTrash(_ item: Item) -> VaultError {
    VaultError(
      .itemNotFound, "the item is in the trash", hint: .restoreFromTrash(item.name ?? item.id.hexadecimal))
  }

  private static var ofLaterVersion: VaultError {
    VaultError(
      .unsupported, "this version does not know what the item is, and does not open it",
      hint: .useNewerVersion)
  }
}

extension ItemOperation {
  /// Whether the operation hands out, uses, makes or replaces a secret.
  fileprivate var concernsSecret: Bool {
    switch self {
    case .read, .use, .export, .exportOfAll, .replace: true
    case .update, .add, .unlock, .evaluate: false
    }
  }
}
