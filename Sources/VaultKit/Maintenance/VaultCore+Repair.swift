import SealedStorage
import VaultFormat
import VaultStorage

/// What a rotation does about parts that do not open: it finds them before anything is changed, and with `dropDamaged` it removes
/// them. `WriteTransaction+Damage.swift` has the removals.
extension VaultCore {
  /// The parts of the vault that a rotation could not seal again, because they do not open. Changes nothing.
  package func damagedParts(progress: (VerifyProgress) -> Void = { _ in }) throws(VaultError) -> [DamagedPart]
  {
    var found: [DamagedPart] = []
    let total = try status().itemCount
    var (last, done): (Int64?, Int) = (.min, 0)
    while let from = last {
      var transaction = try beginReading()
      let rows = try transaction.store.rows.items(after: from, limit: 1024)
      for row in rows {
        if row.row >= Head.greatest {
          found.append(.item(row, name: nil, error: VaultError(.damaged, "no vault has its number")))
        } else if let part = try transaction.store.damage(of: row) {
          found.append(part)
        }
      }
      done += rows.count
      // Rows that are added in the meantime were sealed a moment ago, so they open.
      last = rows.count == 1024 ? rows.last?.row : nil
      transaction.end()
      progress(VerifyProgress(done: min(done, total), total: 2 * total))
    }
    var sequence: UInt64? = 0
    while let from = sequence {
      var transaction = try beginReading()
      let end = try transaction.store.head().nextAudit
      let rows = try transaction.store.rows.auditEntries(from: from + 1, limit: 4096)
      for row in rows {
        guard row.sequence < end else {
          found.append(.audit(row.sequence, error: VaultError(.damaged, "the log does not have it")))
          continue
        }
        do throws(VaultError) { _ = try transaction.store.open(row) } catch {
          guard error.isUnreadable else { throw error }
          found.append(.audit(row.sequence, error: error))
        }
      }
      sequence =
        if rows.count == 4096, let last = rows.last, last.sequence < end { last.sequence } else { nil }
    }
    var transaction = try beginReading()
    do throws(VaultError) { _ = try transaction.store.vaultState() } catch {
      guard error.isUnreadable else { throw error }
      found.append(.state(error))
    }
    transaction.end()
    try keepNeededPINs(in: &found)
    return found
  }

  /// Marks the damaged rows that stay: those that are, or may be, the PIN of items that open and are not to be removed themselves.
  private func keepNeededPINs(in found: inout [DamagedPart]) throws(VaultError) {
    let removable = found.filter { $0.remedy == .removal && $0.row != nil }
    guard !removable.isEmpty else { return }
    var transaction = try beginReading()
    var rows: [ItemRow] = []
    for part in removable {
      if let number = part.row, let row = try transaction.store.rows.item(row: number) { rows.append(row) }
    }
    let needing = try transaction.store.items(needing: rows, without: Set(removable.compactMap(\.item)))
    transaction.end()
    for index in found.indices where found[index].remedy == .removal {
      guard let items = found[index].row.flatMap({ needing[$0] }) else { continue }
      found[index] = found[index].needed(by: items.map { $0.name ?? $0.id.hexadecimal })
    }
  }

  /// Finds the parts that do not open before anything is changed. Parts that are to be removed are removed now, so that
  /// the rotation does not meet them.
  func prepareEpoch(
    dropDamaged: Bool, progress: (VerifyProgress) -> Void, told: (DamagedPart) -> Void
  ) throws(VaultError) {
    var found = try damagedParts(progress: progress)
    guard !found.isEmpty else { return }
    let newer = found.filter { $0.remedy == .newerVersion }
    let needed = found.filter { $0.remedy == .needed }
    guard dropDamaged, newer.isEmpty, needed.isEmpty else {
      found.forEach(told)
      guard newer.isEmpty else { throw .refusal("the keys stay as they are", newer: newer) }
      guard needed.isEmpty else { throw .refusal("the keys stay as they are", needed: needed) }
      throw VaultError(.damaged, "the keys stay as they are: \(VaultError.named(found))", hint: .dropDamaged)
    }
    var transaction = try beginWriting()
    try transaction.removeDamaged(&found)
    try transaction.commit()
    found.forEach(told)
  }

  /// The last step of a repair. Rows and entries that have the new keys by what is plain of them, and do not open, were added or
  /// altered on the way: the rotation passes over them.
  func finishRepair(told: (DamagedPart) -> Void) throws(VaultError) {
    var found: [DamagedPart] = []
    do throws(VaultError) { found = try damagedParts() } catch {
      // After a lock, what the passcode opens cannot be looked at.
      guard error.code == .locked else { throw error }
    }
    var transaction = try beginWriting(repairing: true)
    try transaction.removeDamaged(&found)
    try transaction.countAnew()
    try transaction.commit()
    found.filter(\.isRemoved).forEach(told)
  }
}
