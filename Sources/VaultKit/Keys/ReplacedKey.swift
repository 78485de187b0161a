import DeviceKeys
import VaultFormat
import VaultStorage

/// The fate of the key that a rotation replaced.
package enum ReplacedKey: Sendable, Equatable {
  case deleted
  /// It still exists, because this file names it.
  case kept(for: String)
  /// It still exists, because this file cannot be read and may name it.
  case perhapsNeeded(by: String)
}
