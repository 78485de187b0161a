import VaultFormat
import VaultKeys
public import SecretMemory
import TextPreparation

/// The password that a person types to open one item: 1–1,024 bytes, by the rules of a ``Passcode``.
public struct ApplicationPassword: ~Copyable, Sendable {
  let typed: TypedSecret

  /// - Throws: ``VaultError/Code/malformed``, ``VaultError/Code/unsupported``, as ``Passcode``.
  public init(_ bytes: consuming SecretBytes) throws(VaultError) {
    typed = try TypedSecret(bytes, named: "the application password")
  }
}
