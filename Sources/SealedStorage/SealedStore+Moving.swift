import VaultKeys
package import VaultFormat
import SecretMemory
import VaultCrypto
package import VaultStorage

extension SealedStore {
  /// The next batch of a rotation: at most `limit` rows after those that are done, and at most ``mostBatchBytes``. `nil` when all
  /// items are done.
  package mutating func prepareMove(limit: Int) throws(VaultError) -> PreparedMove? {
    let head = try head()
    let current = keys.current.generation
    guard keys.previous != nil, head.rotation.phase == .items || head.rotation.phase == .itemsLeft else {
      return nil
    }
    let from = head.rotation.position
    var batch = PreparedMove(generation: current, sequence: head.sequence, from: from, last: from)
    batch.items.reserveCapacity(min(limit, Int(clamping: head.itemCount)))
    var (left, bytes) = (limit, 0)
    while left > 0, bytes < Self.mostBatchBytes {
      let asked = min(left, Self.readTogether)
      let rows = try rows.items(after: Int64(batch.last), limit: asked)
      left -= asked
      // The head row cannot name the row of such a number, and no vault has one.
      for row in rows where row.row < Head.greatest {
        batch.last = UInt64(row.row)
        guard isOld(row) else { continue }
        do throws(VaultError) {
          let item = try moved(row)
          bytes += item.byteCount
          batch.items.append(item)
        } catch {
          guard error.isUnreadable else { throw error }
          batch.damaged.append((row.row, damaged(row, error: error)))
        }
      }
      batch.isLast = rows.count < asked || rows.last!.row >= Head.greatest
      if batch.isLast { break }
    }
    return batch
  }

  /// How many rows are in memory at once, besides those that are sealed already.
  private static let readTogether = 256

  /// The rows of an item for the current generation. Its secret is not sealed again, because its data key stays the
  /// same.
  ///
  /// - Throws: ``VaultError/Code/damaged`` if a part of the item does not open.
  package mutating func moved(_ old: ItemRow) throws(VaultError) -> MovedItem {
    let before = try keys(of: old.generation)
    let current = keys.current
    let parts = try parts(of: old)
    let item = parts.item
    let index = current.blindIndex
    let random = environment.random
    let vault = vault
    var row = old
    row.generation = current.generation
    row.primaryKey = try index.primaryKey(of: item)
    row.name = index.name(of: item)
    var (lost, gained) = (ItemRows(old.row, under: before, item: old), ItemRows(old.row, under: current))
    if let material = parts.material {
      let seal = MaterialSeal(of: row, in: vault, policyHash: item.policy.hash)
      let sealed = try seal.sealKeys(
        try openKeys(of: old, item: item, material: material), under: try classKey(of: row), random: random)
      lost.material = material
      gained.material = MaterialRow(keys: sealed, secret: material.secret)
    }
    if let (state, stored) = parts.state {
      lost.state = stored
      gained.state = try current.sealState(
        state.bytes, of: old.id, revision: stored.revision + 1, in: vault, random: random)
    }
    row.meta = try sealedMeta(
      of: row, attributes: item.attributes, policy: item.policy, keeping: laterFields(of: old, item: item))
    gained.item = row
    lost.index = before.blindIndex.values(of: item)
    gained.index = index.values(of: item)
    return MovedItem(from: old, lost, to: row, gained)
  }

  /// The part of an item that a rotation could not seal again because it does not open; `nil` when all parts open.
  package mutating func damage(of row: ItemRow) throws(VaultError) -> DamagedPart? {
    do throws(VaultError) {
      let parts = try parts(of: row)
      if let material = parts.material { try check(material, of: row, item: parts.item) }
      for value in try keys(of: row.generation).blindIndex.values(of: parts.item) {
        let isThere = try rows.hasBlind(value: value, row: row.row)
        if !isThere { return .index(row, name: parts.item.name) }
      }
      return nil
    } catch {
      guard error.isUnreadable else { throw error }
      return damaged(row, error: error)
    }
  }

  /// Whether an item's secret is missing or does not open. A secret whose key is not at hand, or that a newer version made, counts as
  /// one that opens.
  ///
  /// - Parameters:
  ///   - material: `nil` for a secret that is missing.
  ///   - needsKey: Whether a key that only the passcode opens is an error.
  package func isDamaged(
    _ material: MaterialRow?, of row: ItemRow, item: Item, needsKey: Bool = false
  ) throws(VaultError) -> Bool {
    guard let material else { return true }
    do throws(VaultError) { try check(material, of: row, item: item) } catch {
      guard error.isUnreadable || error.code == .locked && !needsKey else { throw error }
      return error.code == .damaged
    }
    return false
  }

  /// Describes an item that does not open. A seal that a newer version made outweighs damage in another part of the
  /// item: then only a person removes the item.
  package mutating func damaged(_ row: ItemRow, error: VaultError) -> DamagedPart {
    .item(
      row, name: (try? open(row))?.name, error: error.isNewerVersion ? error : newerSeal(in: row) ?? error)
  }

  private mutating func newerSeal(in row: ItemRow) -> VaultError? {
    var part = "its row"
    do throws(VaultError) {
      _ = try GenerationKeys.generation(of: row.meta)
      if let material = try? rows.material(row: row.row) {
        part = "its data key"
        try MaterialSeal.check(material.keys)
        part = "its secret"
        try MaterialSeal.check(material.secret)
      }
      part = "its state"
      if let state = try? rows.state(row: row.row) { _ = try GenerationKeys.generation(of: state.body) }
      return nil
    } catch {
      return error.isNewerVersion ? error.saying("\(part) does not open") : nil
    }
  }

  /// The parts of a row, opened as far as the device key opens them.
  private mutating func parts(of row: ItemRow) throws(VaultError)
    -> (item: Item, material: MaterialRow?, state: (state: ItemState, row: StateRow)?)
  {
    let item: Item
    do throws(VaultError) { item = try open(row) } catch {
      throw error.saying("its attributes do not open")
    }
    // The seal of the row says whether there is a secret: one that it does not list is none of the vault.
    var material: MaterialRow?
    if item.hasSecret {
      do throws(VaultError) { material = try rows.material(row: row.row) } catch {
        throw error.saying("its secret is not readable")
      }
      guard material != nil else { throw VaultError(.damaged, "its secret is missing") }
    }
    do throws(VaultError) { return (item, material, try state(of: row)) } catch {
      throw error.saying("its state does not open")
    }
  }

  private func openKeys(
    of row: ItemRow, item: Item, material: MaterialRow
  ) throws(VaultError) -> SecretBytes {
    let key = try classKey(of: row)
    do throws(VaultError) {
      return try MaterialSeal(of: row, in: vault, policyHash: item.policy.hash)
        .openKeys(material.keys, under: key)
    } catch { throw error.saying("its data key does not open") }
  }

  /// Opens an item's data key and secret. A secret with constraints needs a person: for it, opens the list of the ways
  /// to the data key, and checks the form of the secret's seal.
  func check(_ material: MaterialRow, of row: ItemRow, item: Item) throws(VaultError) {
    let key = try classKey(of: row)
    let secret = try SealedSecret(vault, row, item.policy, material)
    // What a later version made is not damaged, whatever form it has.
    guard !item.isOfLaterVersion else { return try secret.checkSeals() }
    let dataKey: SecretBytes?
    do throws(VaultError) {
      if try item.policy.isWrapped() {
        _ = try secret.alternatives(under: key)
        dataKey = nil
      } else {
        dataKey = try secret.dataKey(with: ItemKeys(classKey: key))
      }
    } catch {
      // A derivation of a later version is not damaged.
      guard error.code == .unsupported else { throw error.saying("its data key does not open") }
      dataKey = nil
    }
    do throws(VaultError) {
      guard let dataKey else { return try secret.checkSeals() }
      _ = try secret.open(under: dataKey)
    } catch { throw error.saying("its secret does not open") }
  }

  private func classKey(of row: ItemRow) throws(VaultError) -> SharedSecret {
    if let key = keys.classKey(row.class, generation: row.generation) { return key }
    let exists = keys.slots.contains {
      $0.kind == SlotKind.classKey.rawValue && $0.subject == row.class && $0.generation == row.generation
    }
    guard exists else { throw VaultError(.damaged, "the key of its class does not exist") }
    throw VaultError(.locked, "the vault is locked", hint: "unlock it with the passcode")
  }

  /// Attributes and policy, sealed for the generation of the row together with its clear columns.
  ///
  /// - Parameter later: Fields of the row that this version does not know. They are kept.
  package func sealedMeta(
    of row: ItemRow, attributes: Attributes, policy: Policy, keeping later: Record?
  ) throws(VaultError) -> [UInt8] {
    var record = later ?? Record()
    record[FieldNumber.Meta.attributes] = attributes.record.encoded
    record[FieldNumber.Meta.policy] = policy.record.encoded
    return try keys(of: row.generation).sealMeta(
      record.encoded, of: row, in: vault, random: environment.random)
  }

  /// The fields of a row's `meta` that this version does not know; `nil` when its length shows that there are none.
  package func laterFields(of row: ItemRow, item: Item) throws(VaultError) -> Record? {
    let known = 2 * Record.overhead + item.attributes.byteCount + item.policy.record.encoded.count
    guard row.meta.count != RecordSeal.overhead + known else { return nil }
    let keys = try self.keys(of: row.generation)
    var content: [UInt8] = []
    try unsafe AssociatedData.withMeta(vault, row.fields, row.meta.span.bytes, openedWith: keys.meta) {
      content = $0.array
    }
    guard var record = try? Record(decoding: content) else { return nil }
    record[FieldNumber.Meta.attributes] = nil
    record[FieldNumber.Meta.policy] = nil
    return record
  }

  /// The numbers of the rows of the old generation, without those that no vault has (``Head/greatest``).
  package mutating func oldRows() throws(VaultError) -> [Int64] {
    let current = keys.current.generation
    var found: [Int64] = []
    try rows.scanItems { row, meta in
      if row.row < Head.greatest, Self.isOld(row.generation, meta, current: current) {
        found.append(row.row)
      }
      return true
    }
    return found
  }

  /// Whether a rotation still has to move a row. The column of the generation may have been altered: the seal has it, too.
  package func isOld(_ row: ItemRow) -> Bool {
    unsafe Self.isOld(row.generation, row.meta.span.bytes, current: keys.current.generation)
  }

  private static func isOld(_ generation: UInt32, _ meta: RawSpan, current: UInt32) -> Bool {
    // A seal of a newer version of this program says nothing, and is left to the column.
    generation != current || (try? RecordSeal.generation(of: meta)).map { $0 != current } ?? false
  }

  /// About the maximum number of bytes that a batch holds in memory, in addition to one item's rows.
  private static let mostBatchBytes = 32 << 20
}
