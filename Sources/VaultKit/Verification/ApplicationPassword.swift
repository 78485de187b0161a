import VaultFormat
import VaultKeys
public import SecretMemory
import Synchronization

/// What a person types to open one item: 1–1,024 bytes without NUL, taken as they are.
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
