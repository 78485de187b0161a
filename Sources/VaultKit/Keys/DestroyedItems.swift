import SealedStorage
import VaultFormat
import VaultKeys
import VaultCrypto
import VaultStorage

/// What a removal of the passcode destroys for good.
public struct DestroyedItems: Sendable {
  /// Identifiers and names of the items that were accessible with a passcode only, or behind a factor that goes with it.
  public let items: [(id: ItemID, name: String?)]
}
