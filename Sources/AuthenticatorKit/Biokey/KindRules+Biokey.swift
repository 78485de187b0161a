public import VaultKit

extension ItemKind {
  /// A biokey: 128 random bits registered with a server.
  public static let biokey = ItemKind(rawValue: 18)
}

extension Component {
  /// Biokeys.
  package static let biokey = Component(.biokey)
}

extension KindRules {
  static let biokey = KindRules(
    .biokey, word: "biokey", isListedAlone: true,
    secret: .component(
      name: "a biokey", hint: .manageBiokeys),
    expiry: ExpiryRules(isFixed: true),
    state: StateRules(
      .always,
      biometry: StateRules.BiometryRule(
        until: { $0.pinOfBiokey },
        lock: {
          VaultError(
            .biokeyLocked, "the biokey is locked after \(BiometryLockout.limit) failures",
            hint: "use the PIN: a right one ends it", attemptsLeft: 0)
        })))
}

extension Item {
  /// The PIN item whose PIN a biokey replaces, as its attribute says; `nil` for an item of another kind.
  package var pinOfBiokey: ItemID? { kind == .biokey ? attributes.pinOfBiokey : nil }
}

extension Attributes {
  fileprivate var pinOfBiokey: ItemID? { self[.pinItem].flatMap(ItemID.init) }
}

extension Hint {
  package static let manageBiokeys: Hint =
    "\("list or reset the biokeys through their component", tool: "use 'vaultctl biometry biokey list' or 'vaultctl biometry biokey reset'")"
}
