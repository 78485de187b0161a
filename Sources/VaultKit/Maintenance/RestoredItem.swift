import DeviceKeys
import SealedStorage
import VaultFormat
import VaultKeys
import SecretMemory
import VaultCrypto
import VaultStorage

/// An item of a vault that a restored one replaces.
public struct RestoredItem: Sendable {
  /// Its identifier.
  public let id: ItemID
  /// Its name, if it has one.
  public let name: String?
  /// Its kind; `nil` for an item that does not open.
  public let kind: ItemKind?
}
