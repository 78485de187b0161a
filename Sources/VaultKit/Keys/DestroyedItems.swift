import SealedStorage
import VaultFormat
import VaultKeys
import VaultCrypto
import VaultStorage

/// The items that an operation destroys permanently: the removal of the passcode, or a recovery.
public struct DestroyedItems: Sendable {
  /// Identifiers and names of the items: those that required a passcode or a factor that was removed with it, or the
  /// device key that was lost, and those behind a PIN among them.
  public let items: [(id: ItemID, name: String?)]
}
