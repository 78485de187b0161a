import DeviceKeys
import VaultFormat
import VaultStorage

/// The result of removing the keys that a vault has replaced.
package struct KeyRemoval: Sendable {
  /// The keys that were removed.
  package var removed: [FoundDeviceKey] = []
  /// Why other keys remain, one error for each cause.
  package var failures: [VaultError] = []

  package init() {}
}
