import DeviceKeys
import VaultFormat
import VaultStorage

/// A device key of this vault's id that a protector keeps.
package struct FoundDeviceKey: Sendable {
  /// What this vault knows of it.
  package enum Standing: Sendable, Equatable {
    /// It opens this vault.
    case present
    /// This vault had it and has another one now (header field 20).
    case replaced
    /// A file that a restore has left beside the vault names it.
    case needed(by: String)
    /// A file beside the vault has a name that a restore uses, and cannot be read: it may name this key.
    case perhapsNeeded(by: String)
    /// No file is known to name it. A vault elsewhere with the same id may: a backup restored to another place has it.
    case unknown
  }

  package let id: DeviceKeyID
  /// Its file, or who keeps it.
  package let place: String
  package let standing: Standing
}
