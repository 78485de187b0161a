import SealedStorage
import VaultFormat
import VaultKeys
import SecretMemory
import VaultCrypto
import VaultStorage

/// What someone wants to do with an item.
package enum ItemOperation: Sendable {
  case read, use, export, update, list, add, unlock

  /// What a prompt says is about to happen.
  var words: String {
    switch self {
    case .read: "read the secret"
    case .use: "use the secret"
    case .export: "export the secret"
    case .update: "change the item"
    case .list: "list the item"
    case .add: "store the item"
    case .unlock: "unlock the vault"
    }
  }
}
