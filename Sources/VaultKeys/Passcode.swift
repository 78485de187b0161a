public import VaultFormat
public import SecretMemory
package import TextPreparation

/// What a person types to unlock the vault: 1–1,024 bytes, one line without blanks at its ends and without control characters.
///
/// Text is prepared by RFC 8265 (OpaqueString), so that the passcode is the same whichever keyboard it comes from. Bytes that are
/// not UTF-8 are taken as they are.
public struct Passcode: ~Copyable, Sendable {
  package let typed: TypedSecret
  package let shown: Shown

  /// - Throws: ``VaultError/Code/malformed`` for bytes that no passcode has; ``VaultError/Code/unsupported`` for text that cannot be
  ///   prepared, because libunistring is missing.
  public init(_ bytes: consuming SecretBytes) throws(VaultError) { try self.init(bytes, shown: .given) }

  /// A passcode with a record of how it reached the vault.
  package init(_ bytes: consuming SecretBytes, shown: Shown) throws(VaultError) {
    typed = try TypedSecret(bytes, named: "the passcode")
    self.shown = shown
  }

  /// The bytes that were given.
  package consuming func intoBytes() -> SecretBytes { typed.given.bytes.copy() }
}
