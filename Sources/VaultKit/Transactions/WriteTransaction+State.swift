import VaultFormat
import VaultCrypto
import VaultStorage

extension WriteTransaction {
  /// Changes the state of an item of a program's own kind (``ItemKind/isOfPrograms``). Needs no unlocked session.
  ///
  /// The result of `change` may be shown only after the transaction has been committed.
  /// - Throws: What `change` throws; as the same type ``VaultError/Code/policy`` for any other kind, because only the
  ///   component of an authenticator changes its counters, and ``VaultError/Code/itemNotFound`` for an item that was
  ///   added without a state.
  public mutating func updateState<R, E: VaultFailure>(
    of id: ItemID, _ change: (inout ItemState) throws(E) -> R
  ) throws(E) -> R {
    try changingOwnState(of: id, change) { E(vault: $0) }
  }

  /// Changes the state of an item of a program's own kind, with a closure that throws no error.
  public mutating func updateState<R>(
    of id: ItemID, _ change: (inout ItemState) -> R
  ) throws(VaultError) -> R {
    try changingOwnState(of: id, { (state: inout ItemState) throws(VaultError) in change(&state) }) { $0 }
  }

  /// Changes the state of an item of a program's own kind, with a closure that throws any error.
  public mutating func updateState<R>(
    of id: ItemID, _ change: (inout ItemState) throws -> R
  ) throws -> R {
    try changingOwnState(of: id, change) { $0 as any Error }
  }

  private mutating func changingOwnState<R, E: Error>(
    of id: ItemID, _ change: (inout ItemState) throws(E) -> R, converting convert: (VaultError) -> E
  ) throws(E) -> R {
    do throws(VaultError) {
      guard try item(id).kind.isOfPrograms else {
        throw VaultError(
          .policy, "only the component of the item's kind may change its state",
          hint: "call OTPCredential for a one-time password; for a state of your own, use a kind of your own")
      }
    } catch { throw convert(error) }
    return try changingState(of: id, change, converting: convert)
  }

  /// Changes the state of an item: the primitive for counters, attempts and tokens. Needs no unlocked session, and
  /// does not ask the gate.
  package mutating func changeState<R>(
    of id: ItemID, _ change: (inout ItemState) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    try changingState(of: id, change) { $0 }
  }

  private mutating func changingState<R, E: Error>(
    of id: ItemID, _ change: (inout ItemState) throws(E) -> R, converting convert: (VaultError) -> E
  ) throws(E) -> R {
    let found: StoredState
    do throws(VaultError) { found = try storedState(of: id) } catch { throw convert(error) }
    var state = found.state
    let result = try change(&state)
    guard state != found.state else { return result }
    do throws(VaultError) { try write(state, replacing: found) } catch { throw convert(error) }
    return result
  }

  private struct StoredState {
    let item: ItemRow
    let state: ItemState
    let row: StateRow
  }

  private mutating func storedState(of id: ItemID) throws(VaultError) -> StoredState {
    let row = try store.row(of: id)
    guard let (state, stored) = try store.state(of: row) else {
      throw VaultError(.itemNotFound, "the item has no state")
    }
    return StoredState(item: row, state: state, row: stored)
  }

  private mutating func write(_ state: ItemState, replacing old: StoredState) throws(VaultError) {
    let row = old.item
    try write(state.bytes, row: row.row, item: row.id, generation: row.generation, replacing: old.row)
  }

  /// Adds an entry to the audit log, in this transaction.
  package mutating func log(
    _ operation: AuditOperation, item: Item? = nil, result: AuditResult = .success, detail: String? = nil
  )
    throws(VaultError)
  {
    try log(
      AuditNote(operation: operation, item: item?.id, kind: item?.kind, result: result, detail: detail))
  }

  /// Adds the audit notes of the gate, in this transaction.
  package mutating func log(_ notes: [AuditNote]) throws(VaultError) {
    for note in notes { try log(note) }
  }

  mutating func setVaultState(_ state: VaultState, replacing old: StateRow?) throws(VaultError) {
    try write(
      state.bytes, row: 0, item: ItemID.zero.stored, generation: store.keys.current.generation,
      replacing: old)
  }

  /// Writes a new state of the vault in the place of one that does not open.
  mutating func rebuildVaultState() throws(VaultError) {
    let current = store.keys.current
    var (before, after) = (ItemRows(0, under: current), ItemRows(0, under: current))
    if let old = try store.rows.state(row: 0) {
      before = ItemRows(0, under: store.keys.keys(sealing: old.body) ?? current)
      before.state = old
    }
    after.state = try sealed(VaultState().bytes, of: ItemID.zero.stored, under: current)
    try replace(before, with: after)
  }

  private mutating func write(
    _ bytes: [UInt8], row: Int64, item: Bytes16, generation: UInt32, replacing old: StateRow?
  ) throws(VaultError) {
    let keys = try store.keys(of: generation)
    var (before, after) = (ItemRows(row, under: keys), ItemRows(row, under: keys))
    if let old {
      before = ItemRows(row, under: try store.keys(of: try GenerationKeys.generation(of: old.body)))
      before.state = old
    }
    after.state = try sealed(bytes, of: item, revision: (old?.revision ?? 0) + 1, under: keys)
    try replace(before, with: after)
  }

  mutating func sealed(
    _ state: [UInt8], of item: Bytes16, revision: UInt64 = 1, under keys: GenerationKeys
  ) throws(VaultError) -> StateRow {
    try keys.sealState(
      state, of: item, revision: revision, in: store.vault, random: store.environment.random)
  }

  /// Changes attributes on which no index depends, for the component of the item. Needs no unlocked session, and does not ask
  /// the gate.
  package mutating func changeAttributes(
    of id: ItemID, _ change: (inout Attributes) -> Void
  ) throws(VaultError) {
    let now = store.now
    try rewriteInGeneration(id) { _, attributes in
      change(&attributes)
      attributes[.modificationDate] = now
    }
  }
}
