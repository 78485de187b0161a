/// What becomes of a password or another secret of a person (``ItemKind/genericPassword``, ``ItemKind/internetPassword``) whose
/// expiry has passed. Items of other kinds are refused then, whatever this says.
///
/// **Advisory**, as ``NewItem/isExportable`` is: no key ends with a date, so the keys of the vault open the item also after it. The
/// library and the tool refuse it. The rule is sealed with the item: without its key nobody takes the rule away.
@nonexhaustive
public enum ExpiryRule: UInt8, Sendable {
  /// It is given, and programs say that it has expired: the old password is needed to change it.
  case warn = 0
  /// It is refused with ``VaultError/Code/expired``.
  case refuse = 1
}
