import SecretMemory
import VaultCrypto
import VaultStorage

extension Transaction where Mode == Writing {
  /// Moves up to `limit` items of the old generation to the current one, from a row on.
  ///
  /// - Returns: The last row looked at, or `nil` when none is left: what is added from now on has the new keys.
  mutating func moveItems(after last: Int64, limit: Int) throws(VaultError) -> (last: Int64?, moved: Int) {
    var rows: [ItemRow] = []
    try session.store.forEachItem(after: last, limit: limit) { row throws(VaultError) in
      rows.append(row)
      return true
    }
    let old = rows.filter { $0.generation != session.keys.current.generation }
    for row in old { _ = try move(row) }
    return (rows.count == limit ? rows.last?.row : nil, old.count)
  }

  /// Seals an item's parts for the current generation. Its secret stays as it is: the data key does.
  mutating func move(_ old: ItemRow) throws(VaultError) -> ItemRow {
    let item = try session.open(old)
    let before = try session.keys(of: old.generation)
    let current = session.keys.current
    let index = BlindIndex(key: current)
    var row = old
    row.generation = current.generation
    row.primaryKey = index.primaryKey(of: item.kind, item.attributes)
    row.name = index.name(of: item.attributes)
    changes.underWay += 1
    if item.hasSecret { try moveKeys(old, row, item, before) }
    try moveState(old, row)
    try seal(&row, item.attributes, item.policy, keeping: laterFields(old, item))
    let moved = row
    try stored { () throws(StorageError) in _ = try session.store.updateItem(moved) }
    head!.sum -= Summand(key: before).item(old)
    head!.sum += Summand(key: current).item(moved)
    for value in BlindIndex(key: before).values(of: item.attributes) { try removeBlind(value, old) }
    for value in index.values(of: item.attributes) { try addBlind(value, moved) }
    changes.underWay -= 1
    return moved
  }

  private mutating func moveKeys(
    _ old: ItemRow, _ row: ItemRow, _ item: Item, _ before: GenerationKeys
  ) throws(VaultError) {
    guard let from = session.keys.classKey(old.class, generation: old.generation),
      let to = session.keys.classKey(row.class, generation: row.generation)
    else { throw VaultError(.locked, "the vault is locked", hint: "unlock it with the passcode") }
    guard let material = try stored({ () throws(StorageError) in try session.store.material(row: row.row) })
    else { throw VaultError(.damaged, "an item's secret is missing") }
    let hash = item.policy.hash
    let vault = session.vault
    let random = session.environment.random
    let moved = try crypto { () throws(CryptoError) in
      let keys = try CommittingSeal.open(
        material.keys, under: from.key, label: Labels.sealKeys,
        aad: AssociatedData.keys(vault, old, policyHash: hash))
      return MaterialRow(
        keys: try CommittingSeal.seal(
          keys, under: to.key, label: Labels.sealKeys,
          aad: AssociatedData.keys(vault, row, policyHash: hash), random: random),
        secret: material.secret)
    }
    try stored { () throws(StorageError) in try session.store.setMaterial(moved, row: row.row) }
    head!.sum -= Summand(key: before).material(row.row, material)
    head!.sum += Summand(key: session.keys.current).material(row.row, moved)
  }

  private mutating func moveState(_ old: ItemRow, _ row: ItemRow) throws(VaultError) {
    guard let (state, stored) = try session.state(of: old) else { return }
    try write(state.bytes, row: row.row, item: row.id, generation: row.generation, replacing: stored)
  }

  /// Seals up to `limit` audit entries for the current generation; their MACs stay, they are over the content.
  ///
  /// - Returns: The last sequence looked at, or `nil` when none is left.
  mutating func moveAudit(after last: UInt64, limit: Int) throws(VaultError) -> UInt64? {
    let rows = try stored { () throws(StorageError) in
      try session.store.auditEntries(from: last + 1, limit: limit)
    }
    let current = session.keys.current
    let vault = session.vault
    let random = session.environment.random
    for row in rows {
      let generation = try crypto { () throws(CryptoError) in try RecordSeal.generation(of: row.body) }
      guard generation != current.generation else { continue }
      let record = try session.open(row).record
      let body = try crypto { () throws(CryptoError) in
        try current.audit.seal(
          record, aad: AssociatedData.audit(vault, sequence: row.sequence), random: random)
      }
      try stored { () throws(StorageError) in
        _ = try session.store.updateAudit(AuditRow(sequence: row.sequence, body: body, mac: row.mac))
      }
      changes.seals += 1
      changes.isDirty = true
    }
    return rows.count == limit ? rows.last?.sequence : nil
  }

  /// Seals the vault's own state for the current generation.
  mutating func moveVaultState() throws(VaultError) {
    let (state, row) = try session.vaultState()
    try setVaultState(state, replacing: row)
  }
}
