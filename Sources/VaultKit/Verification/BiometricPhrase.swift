import VaultFormat
import VaultKeys
public import SecretMemory
import Synchronization

/// The phrase of a member of the enrolled set: 1–1,024 bytes without NUL, used unchanged.
public struct BiometricPhrase: ~Copyable, Sendable {
  let bytes: SecretBytes
  let shown: Shown

  /// - Throws: ``VaultError/Code/malformed``.
  public init(_ bytes: consuming SecretBytes) throws(VaultError) { try self.init(bytes, shown: .given) }

  /// A phrase, with the way in which it was given.
  package init(_ bytes: consuming SecretBytes, shown: Shown) throws(VaultError) {
    guard bytes.isTypable else {
      throw VaultError(.malformed, "a biometric phrase is 1 to 1,024 bytes without NUL")
    }
    self.bytes = bytes
    self.shown = shown
  }
}
