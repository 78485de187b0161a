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
    var held = try ownState(of: id)
    let result = change(&held.state)
    try keep(held)
    return result
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
    var held: HeldState
    do throws(VaultError) { held = try ownState(of: id) } catch { throw convert(error) }
    let result = try change(&held.state)
    do throws(VaultError) { try keep(held) } catch { throw convert(error) }
    return result
  }

  private mutating func ownState(of id: ItemID) throws(VaultError) -> HeldState {
    guard try item(id).kind.isOfPrograms else {
      throw VaultError(
        .policy, "only the component of the item's kind may change its state",
        hint: "call OTPCredential for a one-time password; for a state of your own, use a kind of your own")
    }
    return try heldState(of: id)
  }

  /// A state that is to be changed, with the row that it is kept in.
  package struct HeldState: ~Copyable {
    package var state: ItemState
    fileprivate let before: ItemState
    fileprivate let item: ItemRow
    fileprivate let row: StateRow
  }

  /// Reads the state of an item, for a change that ``keep(_:)`` writes. Needs no unlocked session, and does not ask the gate.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``, also if the item's kind has no state.
  package mutating func heldState(of id: ItemID) throws(VaultError) -> HeldState {
    let row = try store.row(of: id)
    guard let (state, stored) = try store.state(of: row) else {
      throw VaultError(.itemNotFound, "the item has no state")
    }
    return HeldState(state: state, before: state, item: row, row: stored)
  }

  /// Writes a state that was changed: the primitive for counters, attempts and tokens.
  package mutating func keep(_ held: borrowing HeldState) throws(VaultError) {
    guard held.state != held.before else { return }
    let row = held.item
    try write(held.state.bytes, row: row.row, item: row.id, generation: row.generation, replacing: held.row)
  }

  /// Changes the state of an item by a closure that throws no error.
  package mutating func changeState<R>(of id: ItemID, _ change: (inout ItemState) -> R) throws(VaultError)
    -> R
  {
    var held = try heldState(of: id)
    let result = change(&held.state)
    try keep(held)
    return result
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
