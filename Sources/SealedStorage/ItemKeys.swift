package import SecretMemory
package import VaultFormat

/// The keys that open an item's secret.
package struct ItemKeys: Sendable {
  package let classKey: SharedSecret
  /// The data key of an item whose key is wrapped, as a verification opened it.
  package var dataKey: SharedSecret?
  /// The further secrets that its key is wrapped to, to seal a new secret with.
  package var further: FurtherSecrets

  package init(
    classKey: SharedSecret, dataKey: SharedSecret? = nil, further: FurtherSecrets = FurtherSecrets()
  ) {
    self.classKey = classKey
    self.dataKey = dataKey
    self.further = further
  }
}
