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
    guard item.flags & ItemFlags.ofLaterVersion == 0, item.policy.fits(item.kind) else {
      throw ofLaterVersion
    }
    return try missing(item.policy.requirements(), of: item.kind, by: component)
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
    try CardData.refuse(new.attributes, of: new.kind)
    guard new.kind.hasName || new.attributes.bytes(of: Attribute<String>.name.code) == nil else {
      throw ItemRule.noName
    }
  }

  private static func refuseUnlessOwner(
    of kind: ItemKind, _ component: Component?, isExportable: Bool
  ) throws(VaultError) {
    if component?.kind == kind { return }
    guard kind.isKnown else { throw ofLaterVersion }
    guard !kind.isOfAuthenticator else { throw ofComponent(kind) }
    guard kind != .key || isExportable else { throw ofComponent(kind) }
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

  /// Why the secret of a component's kind is refused, and what its component does instead.
  private static func ofComponent(_ kind: ItemKind) -> VaultError {
    let (what, hint): (String, Hint?) =
      switch kind {
      case .otp: ("a one-time-password credential", .useCredential)
      case .pin: ("a PIN", .usePIN)
      case .biokey: ("a biokey", .manageBiokeys)
      case .key: ("a key that is not exportable", .signWithKey)
      case .cardToken: ("a card token", .takeToken)
      case .consent: ("a consent", nil)
      case .clientRegistration: ("a client registration", nil)
      case .transaction: ("a transaction", .listTransactions)
      case .tokenSet: ("a set of tokens", .authorizeRequest)
      case .responseJWT: ("a signed answer", nil)
      default: ("an attachment", nil)
      }
    return VaultError(
      .policy, "the item is \(what), whose secret only its component uses",
      hint: hint ?? "use it through its component")
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
    case .read, .use, .export, .replace: true
    case .update, .add, .unlock, .evaluate: false
    }
  }
}
