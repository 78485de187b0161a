import DeviceKeys
import VaultFormat
import VaultStorage

/// What became of the keys that a vault has replaced.
package struct KeyRemoval: Sendable {
  /// The keys that are gone.
  package var removed: [FoundDeviceKey] = []
  /// Why others are still there, an error for each cause.
  package var failures: [VaultError] = []

  package init() {}
}
