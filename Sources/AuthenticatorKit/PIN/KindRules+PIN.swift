public import VaultKit

extension ItemKind {
  /// A PIN that protects credentials.
  public static let pin = ItemKind(rawValue: 17)
}

extension Component {
  /// PINs.
  package static let pin = Component(.pin)
}

extension KindRules {
  /// A PIN never ends by a clock: the items behind it would never open again.
  static let pin = KindRules(
    .pin, word: "pin", isListedAlone: true,
    secret: .component(
      name: "a PIN", hint: .usePIN),
    expiry: ExpiryRules(isFixed: true),
    state: StateRules(.always, canBeBehind: true),
    relations: Relations(guardsOthers: true),
    operations: [
      AuditOperation.Meaning(.pinChanged, "pinChanged", .authFlow),
      AuditOperation.Meaning(.pinVerified, "pinVerified", .authFlow, isChange: false),
      AuditOperation.Meaning(.pinUnlocked, "pinUnlocked", .authFlow),
      AuditOperation.Meaning(.login, "login", .authFlow, isChange: false),
    ])
}

extension AuditOperation {
  /// A PIN was changed, or a change of one was confirmed or undone.
  package static let pinChanged = AuditOperation(rawValue: 27)
  /// A checked PIN was judged.
  package static let pinVerified = AuditOperation(rawValue: 28)
  /// A new PIN was set with the unlock key of a PIN.
  package static let pinUnlocked = AuditOperation(rawValue: 29)
  /// A person logged in with a PIN or a biokey.
  package static let login = AuditOperation(rawValue: 52)
}

extension Hint {
  package static let usePIN: Hint =
    "\("verify or change it through its component", tool: "use 'vaultctl pin verify' or 'vaultctl pin change'")"
}
