import SealedStorage
import VaultFormat
import VaultKeys
import SecretMemory
import VaultCrypto
import VaultStorage

/// An operation that a caller requests on an item.
package enum ItemOperation: Sendable {
  case read, use, export, update, replace, add, unlock, evaluate
  /// As `export`, for an export of all items: the only one that also takes what is in the trash.
  case exportOfAll

  /// The operation, as a prompt names it.
  package var words: String {
    switch self {
    case .read: "read the secret"
    case .use: "use the secret"
    case .export, .exportOfAll: "export the secret"
    case .update, .replace: "change the item"
    case .add: "store the item"
    case .unlock: "unlock the vault"
    case .evaluate: "verify you"
    }
  }
}
