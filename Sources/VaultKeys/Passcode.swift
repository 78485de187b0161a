public import VaultFormat
public import SecretMemory

/// What a person types to unlock the vault: 1–1,024 bytes without NUL, taken as they are.
public struct Passcode: ~Copyable, Sendable {
  package let bytes: SecretBytes
  package let shown: Shown

  /// - Throws: ``VaultError/Code/malformed`` for an empty one, a NUL, or more than 1,024 bytes.
  public init(_ bytes: consuming SecretBytes) throws(VaultError) { try self.init(bytes, shown: .given) }

  /// A passcode with a record of how it reached the vault.
  package init(_ bytes: consuming SecretBytes, shown: Shown) throws(VaultError) {
    guard bytes.isTypable else { throw VaultError(.malformed, "a passcode is 1 to 1,024 bytes without NUL") }
    self.bytes = bytes
    self.shown = shown
  }

  /// Transfers the ownership of the bytes.
  package consuming func intoBytes() -> SecretBytes { bytes }
}
