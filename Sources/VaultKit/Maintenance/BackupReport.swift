import SealedStorage
import VaultFormat
import VaultKeys
import SecretMemory
import VaultCrypto
import VaultStorage

/// What a backup or a restore did.
public struct BackupReport: Sendable {
  /// How many items are in the new file.
  public internal(set) var items = 0
  /// What was left out, with the reason, by name.
  public internal(set) var leftOut: [(id: ItemID, name: String?, reason: Reason)] = []
  /// The items that only the replaced vault had, not the backup.
  public internal(set) var dropped: [RestoredItem] = []
  /// How many counters need a resynchronisation before they give a code.
  public internal(set) var needsResync = 0
  /// What the restore did with the recovery code; `nil` when there was none.
  public internal(set) var recoveryCode: RestoredRecoveryCode?

  /// Why an item is not in the copy; the raw value is the word used in JSON.
  public enum Reason: String, Sendable {
    /// Its class key hangs on this device's key.
    case thisDeviceOnly
    /// It is worth nothing by the time a backup is needed.
    case shortLived
    /// It does not open.
    case damaged
    /// A newer version of this program made it.
    case newerVersion

    /// The reason for people.
    public var words: String {
      switch self {
      case .thisDeviceOnly: "this device only"
      case .shortLived: "short-lived"
      case .damaged: "damaged: it does not open"
      case .newerVersion: "made by a newer version of this program"
      }
    }
  }
}
