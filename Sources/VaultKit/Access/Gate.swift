import SecretMemory
import VaultCrypto

/// What someone wants to do with an item's secret.
enum Operation: Sendable { case read, use, update }

/// The right to one operation on one item in one session, spent on use. Only ``Gate`` makes one.
struct Grant: ~Copyable, Sendable {
  let item: ItemID
  let operation: Operation
  let classKey: StoredKey

  fileprivate init(item: ItemID, operation: Operation, classKey: StoredKey) {
    self.item = item
    self.operation = operation
    self.classKey = classKey
  }

  /// Spends the grant on its item; a grant for another item is a mistake of ours.
  consuming func spend(on item: ItemID) -> StoredKey {
    precondition(item == self.item, "Grant.spend: a grant for another item")
    return classKey
  }
}

/// The one place where access is decided. What is decided and what is logged of it come out together,
/// so no caller can have the one without the other.
enum Gate {
  /// A decision: the grant, and the note that the operation's transaction must write before it is used.
  struct Decision: ~Copyable {
    let grant: Grant
    let note: AuditNote?
  }

  static func decide(
    _ operation: Operation, on item: Item, keys: borrowing KeyRing, generation: UInt32, now: Instant
  ) throws(VaultError) -> Decision {
    if let expires = item.expires, now >= expires, operation != .update {
      throw VaultError(.expired, "the item has expired", hint: "store a new one")
    }
    guard item.access.word == 0, item.policy.hasNoTokenLife else {
      throw VaultError(
        .unsupported, "the item's access constraints are not supported by this version",
        hint: "use a later version of this program")
    }
    guard let key = keys.classKey(item.access.classNumber, generation: generation) else {
      throw locked(item.access, keys)
    }
    let grant = Grant(item: item.id, operation: operation, classKey: key)
    return Decision(grant: grant, note: note(operation, item))
  }

  /// The class key that a new item is sealed under: adding needs no more than an open class.
  static func classKey(for access: AccessControl, keys: borrowing KeyRing) throws(VaultError) -> StoredKey {
    guard access.word == 0 else {
      throw VaultError(.unsupported, "access constraints are not supported by this version")
    }
    if access.accessibility == .whenPasscodeSet, !keys.header.hasPasscode {
      throw VaultError(
        .policy, "items of when-passcode-set need a passcode", hint: "run 'vaultctl passcode set' first")
    }
    guard let key = keys.classKey(access.classNumber, generation: keys.current.generation) else {
      throw locked(access, keys)
    }
    return key
  }

  private static func locked(_ access: AccessControl, _ keys: borrowing KeyRing) -> VaultError {
    if access.thisDeviceOnly, keys.current.deviceRoot == nil {
      return VaultError(.policy, "the item opens with its own device key only, not with the recovery code")
    }
    return VaultError(.locked, "the vault is locked", hint: "unlock it with the passcode")
  }

  /// A plain read of an item without constraint writes nothing, unless its policy asks for it.
  private static func note(_ operation: Operation, _ item: Item) -> AuditNote? {
    guard operation == .read, item.audit == .all else { return nil }
    return AuditNote(operation: .itemRead, item: item.id, kind: item.kind)
  }
}
