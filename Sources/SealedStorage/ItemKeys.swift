package import SecretMemory
package import VaultFormat

/// The keys that open an item's secret.
package struct ItemKeys: Sendable {
  package let classKey: SharedSecret
  /// The data key of an item with constraints, as a verification opened it.
  package var dataKey: SharedSecret?
  /// The key of its application password, to seal a new secret with.
  package var password: PasswordKey?

  package init(classKey: SharedSecret, dataKey: SharedSecret? = nil, password: PasswordKey? = nil) {
    self.classKey = classKey
    self.dataKey = dataKey
    self.password = password
  }
}
