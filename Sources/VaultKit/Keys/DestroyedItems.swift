import SealedStorage
import VaultFormat
import VaultKeys
import VaultCrypto
import VaultStorage

/// The items that removing the passcode destroys permanently.
public struct DestroyedItems: Sendable {
  /// Identifiers and names of the items that required a passcode, or a factor that is removed with it.
  public let items: [(id: ItemID, name: String?)]
}
