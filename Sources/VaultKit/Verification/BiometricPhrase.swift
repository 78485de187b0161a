import VaultFormat
import VaultKeys
public import SecretMemory
import TextPreparation

/// The phrase of a member of the enrolled set: 1–1,024 bytes, by the rules of a ``Passcode``.
public struct BiometricPhrase: ~Copyable, Sendable {
  let typed: TypedSecret
  let shown: Shown

  /// - Throws: ``VaultError/Code/malformed``, ``VaultError/Code/unsupported``, as ``Passcode``.
  public init(_ bytes: consuming SecretBytes) throws(VaultError) { try self.init(bytes, shown: .given) }

  /// A phrase, with the way in which it was given.
  package init(_ bytes: consuming SecretBytes, shown: Shown) throws(VaultError) {
    typed = try TypedSecret(bytes, named: "the biometric phrase")
    self.shown = shown
  }
}
