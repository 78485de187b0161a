import DeviceKeys
import VaultFormat
import VaultStorage

/// What became of the key that a rotation replaced.
package enum ReplacedKey: Sendable, Equatable {
  case deleted
  /// It still exists: this file names it.
  case kept(for: String)
  /// It still exists: this file cannot be read, and may name it.
  case perhapsNeeded(by: String)
}
