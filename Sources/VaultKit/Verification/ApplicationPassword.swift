import VaultFormat
import VaultKeys
public import SecretMemory
import Synchronization

/// The password that a person types to open one item: 1–1,024 bytes without NUL, used unchanged.
public struct ApplicationPassword: ~Copyable, Sendable {
  let bytes: SecretBytes

  /// - Throws: ``VaultError/Code/malformed``.
  public init(_ bytes: consuming SecretBytes) throws(VaultError) {
    guard bytes.isTypable else {
      throw VaultError(.malformed, "an application password is 1 to 1,024 bytes without NUL")
    }
    self.bytes = bytes
  }
}
