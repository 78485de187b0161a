package import SecretMemory

/// The key that an application password became, and its derivation.
package struct PasswordKey: Sendable {
  package let derivation: KeyDerivation
  package let box: SharedSecret

  package init(_ key: consuming SecretBytes, derivation: KeyDerivation) {
    box = SharedSecret(key)
    self.derivation = derivation
  }
}
