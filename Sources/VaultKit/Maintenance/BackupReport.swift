import SealedStorage
import VaultFormat
import VaultKeys
import SecretMemory
import VaultCrypto
import VaultStorage

/// The result of a backup or a restore.
public struct BackupReport: Sendable {
  /// How many items are in the new file.
  public internal(set) var items = 0
  /// Whether the audit of the vault names the backup. It does not where the vault is read-only, or its disk full.
  public internal(set) var isLogged = true
  /// Whether others can read the new file: its file system keeps no modes. Its passphrase alone protects it then.
  public internal(set) var isOpenToOthers = false
  /// The items that were left out, with names and reasons.
  public internal(set) var leftOut: [(id: ItemID, name: String?, reason: Reason)] = []
  /// The items that are in the new file although their secret does not open: it was damaged before. A secret whose key is not at hand
  /// is not looked at: in a restore, one that the passcode guards.
  public internal(set) var damaged: [Item] = []
  /// The items that are in the new file although the PIN that guards them is missing or does not open: they can no longer be used.
  public internal(set) var behindDamagedPIN: [Item] = []
  /// Whether the vault's own state, with its count of wrong passcodes, was damaged and is a new one in the new file.
  public internal(set) var isStateRenewed = false
  /// The items that the replaced vault had and the backup does not have.
  public internal(set) var dropped: [RestoredItem] = []
  /// The items that the replaced vault had in another state: attributes and secret are now those of the backup.
  public internal(set) var changed: [RestoredItem] = []
  /// How many counters must be resynchronized before they give a code. Not counted are the states of items of programs'
  /// own kinds, which have ``ItemState/needsResync`` too.
  public internal(set) var needsResync = 0
  /// How long the restored vault does not accept its passcode, as after five wrong ones; `nil` if it accepts it at once. The
  /// recovery code ends the delay.
  public internal(set) var passcodeDelay: Duration?
  /// What the restore did with the recovery code; `nil` when there was none.
  public internal(set) var recoveryCode: RestoredRecoveryCode?

  /// Why an item is not in the copy; the raw value is the word used in JSON.
  @nonexhaustive
  public enum Reason: String, Sendable {
    /// Its class key depends on this device's key.
    case thisDeviceOnly
    /// It will have expired when the backup is needed.
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
