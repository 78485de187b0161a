import DeviceKeys
import VaultFormat
import VaultStorage

/// A device key with this vault's id, in the care of a protector.
package struct FoundDeviceKey: Sendable {
  /// The relation of the key to this vault, as far as it is known.
  package enum Standing: Sendable, Equatable {
    /// It opens this vault.
    case present
    /// This vault replaced it with another key (header field 20).
    case replaced
    /// A file that a restore left beside the vault names this key.
    case needed(by: String)
    /// A file beside the vault has a name that a restore uses, but cannot be read, so it may name this key.
    case perhapsNeeded(by: String)
    /// A process that was killed made it, and no commit has named it.
    case left
    /// No known file names it. A vault at another path with the same id may name it, for example a restored backup.
    case unknown
  }

  package let id: DeviceKeyID
  /// The file of the key, or the name of its protector.
  package let place: String
  package let standing: Standing
}
