import VaultFormat
import VaultCrypto
import VaultStorage

extension WriteTransaction {
  /// Changes the state of an item whose kind a program defines. Needs no unlocked session.
  ///
  /// The result of `change` may be shown only after the transaction has been committed.
  /// - Throws: ``VaultError/Code/policy`` for the kinds of an authenticator (16–25). Only their component changes
  ///   their state, because a counter that goes back gives a code twice.
  public mutating func updateState<R>(of id: ItemID, _ change: (inout ItemState) throws -> R) throws -> R {
    guard try !item(id).kind.isOfAuthenticator else {
      throw VaultError(
        .policy, "only a credential's own component may change its state",
        hint: "call OTPCredential, or the component of the item's kind")
    }
    return try changingState(of: id, change)
  }

  /// Changes the state of an item: the primitive for counters, attempts and tokens. Needs no unlocked session, and
  /// does not ask the gate.
  package mutating func changeState<R>(
    of id: ItemID, _ change: (inout ItemState) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    do { return try changingState(of: id) { state in try change(&state) } } catch let error as VaultError {
      throw error
    } catch {
      preconditionFailure("changeState: an error of another type")
    }
  }

  private mutating func changingState<R>(
    of id: ItemID, _ change: (inout ItemState) throws -> R
  ) throws -> R {
    let row = try store.row(of: id)
    guard let (before, stored) = try store.state(of: row) else {
      throw VaultError(.itemNotFound, "the item has no state")
    }
    var state = before
    let result = try change(&state)
    if state != before {
      try write(state.bytes, row: row.row, item: row.id, generation: row.generation, replacing: stored)
    }
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

  mutating func addState(_ state: ItemState, of row: ItemRow) throws(VaultError) {
    try write(state.bytes, row: row.row, item: row.id, generation: row.generation, replacing: nil)
  }

  mutating func setVaultState(_ state: VaultState, replacing old: StateRow?) throws(VaultError) {
    try write(
      state.bytes, row: 0, item: ItemID.zero.stored, generation: store.keys.current.generation,
      replacing: old)
  }

  mutating func write(
    _ bytes: [UInt8], row: Int64, item: Bytes16, generation: UInt32, replacing old: StateRow?
  ) throws(VaultError) {
    let keys = try store.keys(of: generation)
    let revision = (old?.revision ?? 0) + 1
    let new = try keys.sealState(
      bytes, of: item, revision: revision, in: store.vault, random: store.environment.random)
    changes.underWay += 1
    try store.rows.setState(new, row: row)
    if let old {
      let sealedBy = try GenerationKeys.generation(of: old.body)
      head.sum -= try store.keys(of: sealedBy).summand.state(row, old.body)
    } else {
      head.summedRows += 1
    }
    head.sum += keys.summand.state(row, new.body)
    changes.underWay -= 1
    // The head row counts only seals of the current generation. The state of an item that is not moved yet has
    // another.
    if generation == store.keys.current.generation { changes.seals += 1 }
    changes.isDirty = true
  }
}
