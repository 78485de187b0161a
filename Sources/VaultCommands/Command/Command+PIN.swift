import AuthenticatorKit
import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

extension Command {
  /// The PIN item that PINITEM names.
  func pinItem() throws -> Item { try pinItem(named: self[PINOptions.item] ?? NewPINItem(.checked).name) }

  func pinItem(named name: String) throws -> Item {
    let hint = "'vaultctl pin status' lists the PIN items, and 'vaultctl pin set' makes one"
    do {
      let item = try vault.opened().item(named: name)
      guard item.kind == .pin else {
        throw CommandError(.notFound, "the item of that name is not a PIN item", hint: hint)
      }
      return item
    } catch let error as VaultError where error.code == .itemNotFound {
      throw CommandError(.notFound, "there is no PIN item of that name", hint: hint)
    }
  }

  func pinStatus(of id: ItemID) throws -> PINStatus {
    guard let status = try vault.opened().pinStatuses(of: id).first else {
      throw CommandError(.notFound, "the PIN item was deleted meanwhile")
    }
    return status
  }

  /// Says that the count of wrong PINs may be too low.
  func note(marked: Bool) {
    guard marked else { return }
    messages.note(
      "the vault was copied or restored since the last PIN, so more wrong PINs may have been tried than are counted"
    )
  }
}
