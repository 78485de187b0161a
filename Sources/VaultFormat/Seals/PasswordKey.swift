package import SecretMemory

/// What an application password became, and how.
package struct PasswordKey: Sendable {
  package let derivation: KeyDerivation
  package let box: SharedSecret

  package init(_ key: consuming SecretBytes, _ derivation: KeyDerivation) {
    box = SharedSecret(key)
    self.derivation = derivation
  }
}
