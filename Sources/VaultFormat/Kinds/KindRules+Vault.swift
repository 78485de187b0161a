import VaultLogging

/// The vault's own kinds, and those of which nothing is registered.
extension KindRules {
  static let ofVault: [KindRules] = [
    KindRules(
      .genericPassword, word: "password", isListedAlone: true, secret: .everybody,
      canBeEntry: true, goesToTrash: true,
      attributes: AttributeRules(primary: [2, 3], isUniqueByName: true),
      expiry: ExpiryRules(isGivenAfter: true)),
    KindRules(
      .internetPassword, word: "internet-password", secret: .everybody, canBeEntry: true, goesToTrash: true,
      attributes: AttributeRules(primary: [3, 15, 16, 17, 18, 19, 20], isUniqueByName: true),
      expiry: ExpiryRules(isGivenAfter: true)),
    KindRules(
      .key, word: "key", isListedAlone: true,
      secret: .componentUnlessExportable(
        name: "a key that is not exportable",
        hint: .signWithKey),
      attributes: AttributeRules(primary: [8, 21, 22, 23, 24, 25, 26, 27, 28]),
      policy: PolicyRules(canHavePIN: true),
      operations: [AuditOperation.Meaning(.keySigned, "keySigned", .authCrypto, isChange: false)]),
    KindRules(
      .certificate, word: "certificate", secret: .everybody,
      attributes: AttributeRules(primary: [37, 40, 41])),
  ]

  /// The rules of a kind that is not registered.
  static func unregistered(_ kind: ItemKind) -> KindRules {
    let word = "kind-\(kind.rawValue)"
    if kind.isOfPrograms {
      // A program that defines a kind knows what may become of its items.
      return KindRules(
        kind, word: word, secret: .everybody, expiry: ExpiryRules(endsByClock: true),
        state: StateRules(.sometimes, canBeBehind: true))
    }
    return unknown(kind, word: word)
  }

  /// The strictest rules: those of a kind whose component is not linked, or that a later version defines. What is permitted
  /// here, a program without the component can do to a PIN or a token. Which of them may be a token, the policy says
  /// (``Policy/hasLife``).
  private static func unknown(_ kind: ItemKind, word: String) -> KindRules {
    KindRules(
      kind, word: word, secret: .unknown,
      // One without a name is unique by what its component says, and no kind keeps what another system said in more than these.
      attributes: AttributeRules(
        primary: nil, isUniqueByName: true, fixed: [2, 3, 40],
        check: { attributes throws(VaultError) in try CardData.refuse(attributes) }),
      expiry: ExpiryRules(isFixed: true),
      // It may have a state. In a copy that counts as behind what another side has seen.
      state: StateRules(.sometimes, canBeBehind: true, keep: { $0.keepStanding(of: $1) }),
      policy: PolicyRules(end: PolicyRules.EndRule(.itemUpdated)),
      relations: Relations(guardsOthers: true))
  }
}

extension Hint {
  package static let signWithKey: Hint = """
    \("sign with it through its component", tool: "use 'vaultctl key sign'; 'vaultctl key public' prints the public half")
    """
}
