import SecretMemory
import VaultFormat

/// Class keys and audit roots that are open, by the slots that name them, whichever key opens the slot. They are few,
/// and the first dictionary of a kind of key costs a process more time than all of them.
struct OpenedKeys: Sendable {
  var keys: [(address: SlotAddress, key: SharedSecret)] = []

  subscript(address: SlotAddress) -> SharedSecret? {
    get { keys.first { $0.address.hasName(of: address) }?.key }
    set {
      keys.removeAll { $0.address.hasName(of: address) }
      if let newValue { keys.append((address, newValue)) }
    }
  }
}

extension SlotAddress {
  /// Whether two slots hold the same key. An audit root is the same one in every generation.
  func hasName(of other: SlotAddress) -> Bool {
    kind == other.kind && subject == other.subject && (kind == .auditRoot || generation == other.generation)
  }
}
