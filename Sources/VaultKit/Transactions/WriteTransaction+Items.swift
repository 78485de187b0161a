import VaultKeys
import SealedStorage
public import VaultFormat
public import SecretMemory
import VaultCrypto
import VaultStorage

extension WriteTransaction {
  /// Adds an item.
  ///
  /// - Parameters:
  ///   - new: The item.
  ///   - secret: Owned by the transaction from now on. At most 1 MiB. An item without a secret differs from an item with
  ///     an empty secret.
  /// - Throws: ``VaultError/Code/duplicateItem``, ``VaultError/Code/locked``, ``VaultError/Code/policy``,
  ///   ``VaultError/Code/malformed``.
  public mutating func add(_ new: NewItem, secret: consuming SecretBytes? = nil) throws(VaultError) -> Item {
    try add(new, secret: secret, by: nil)
  }

  /// - Parameters:
  ///   - component: The component of the item's kind, with what its policy requires.
  ///   - password: The key of the application password, if the item's access requires one.
  package mutating func add(
    _ new: NewItem, secret: consuming SecretBytes?, by component: Component?, password: PasswordKey? = nil
  ) throws(VaultError) -> Item {
    var attributes = try new.attributes.normalized()
    try ItemLimits.check(attributes)
    let keys = store.keys.current
    let rule = try Gate.rule(for: new, by: component, keys: store.keys)
    if let pin = new.guardingPIN { try refuseUnlessPIN(pin.item) }
    guard (password != nil) == new.access.constraints.contains(.applicationPassword) else {
      throw VaultError(
        .verificationNeeded, "the item's application password is not given",
        hint: "use a call that takes an authentication context")
    }
    let now = store.now
    attributes[.creationDate] = now
    attributes[.modificationDate] = now
    let index = keys.blindIndex
    try refuseDuplicates(of: attributes, kind: new.kind)
    let id = if let given = new.id { given.bytes } else { try store.environment.random.newBytes(16) }
    let policy = Policy(
      access: new.access, audit: new.audit, factors: rule.factors,
      isExportable: new.kind == .key && new.isExportable, requirements: new.requirements)
    var row = ItemRow(
      row: head.nextRow, id: Bytes16(id), kind: new.kind.rawValue,
      primaryKey: index.primaryKey(of: new.kind, attributes), name: index.name(of: attributes), flags: 0,
      class: new.access.classNumber, generation: keys.generation, version: 1, material: 0,
      expires: new.expires?.milliseconds, meta: [])
    head.nextRow += 1
    // The row comes first: a duplicate is refused before anything else of the item is written.
    if let secret = consume secret {
      try ItemLimits.check(secretByteCount: secret.byteCount)
      try CardData.refuse(secret, of: new.kind)
      row.flags |= ItemFlags.hasSecret
      row.material = 1
      if let life = new.tokenLife { head.nextTokenEnd.note(life) }
      try insert(&row, attributes: attributes, policy: policy)
      changes.underWay += 1
      let further = component.furtherSecrets(password: password)
      let itemKeys = ItemKeys(classKey: rule.classKey, further: further)
      try setMaterial(secret, of: row, policy: policy, under: itemKeys, replacing: nil)
    } else {
      try insert(&row, attributes: attributes, policy: policy)
      changes.underWay += 1
    }
    head.sum += keys.summand.item(row)
    head.summedRows += 1
    head.itemCount += 1
    noteExpiry(row.expires)
    for value in index.values(of: attributes) { try addBlind(value, to: row) }
    if new.hasState { try addState(new.state, of: row) }
    try log(AuditNote(operation: .itemAdded, item: ItemID(id), kind: new.kind))
    changes.underWay -= 1
    return Item(row.fields, attributes: attributes, policy: policy)
  }

  /// Changes an item's attributes, expiry with its rule and audit policy, and its secret if a new one is given.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``, ``VaultError/Code/duplicateItem``, ``VaultError/Code/locked`` if the
  ///   key of the secret is needed, and where a passcode is set and the vault is locked for any change but that of label,
  ///   comment and description, unless the item is of ``Accessibility/afterFirstUnlock``.
  @discardableResult
  public mutating func update(
    _ id: ItemID, _ changes: ItemChanges, secret: consuming SecretBytes? = nil
  ) throws(VaultError) -> Item {
    try update(id, changes, secret: secret, by: nil, with: nil)
  }

  /// - Parameters:
  ///   - component: The component of the item's kind, if it changes its item.
  ///   - grant: For an item whose key is wrapped.
  package mutating func update(
    _ id: ItemID, _ changes: ItemChanges, secret: consuming SecretBytes?, by component: Component?,
    with grant: consuming Grant?
  ) throws(VaultError) -> Item {
    let found = try store.row(of: id)
    let old = found.generation == store.keys.current.generation ? found : try move(found)
    let item = try store.open(old)
    try ItemRule.check(changes, of: item, by: component)
    if component == nil, changes.needPasscode { try Gate.permitWithoutSecret(on: item, keys: store.keys) }
    let keys = store.keys.current
    var attributes = item.attributes
    attributes.merge(try changes.attributes.normalized())
    for code in changes.removed { attributes.record[code] = nil }
    try ItemLimits.check(attributes, replacing: item.attributes)
    try CardData.refuse(attributes, of: item.kind)
    try refuseDuplicates(of: attributes, kind: item.kind)
    attributes[.creationDate] = item.created
    attributes[.modificationDate] = store.now
    let index = keys.blindIndex
    var row = old
    row.version += 1
    row.primaryKey = index.primaryKey(of: item.kind, attributes)
    row.name = index.name(of: attributes)
    if let expires = changes.expires { row.expires = expires?.milliseconds }
    let policy = item.policy.with(audit: changes.audit, expiry: changes.expiry)
    let later = try store.laterFields(of: old, item: item)
    let isRebound = item.hasSecret && policy.hash != item.policy.hash
    if isRebound { try Gate.permitSealingAgain(item) }
    if secret != nil || isRebound || item.access.asksPerson {
      let decision = try Gate.decide(
        secret == nil ? .update : .replace, on: item, row: old, in: store, by: component, with: grant)
      try log(decision.notes)
      let itemKeys = decision.opening.spend(on: item.id)
      if let secret = consume secret {
        try refuseSecondMask(of: item)
        try CardData.refuse(secret, of: item.kind)
        try rewrite(
          &row, item: item, attributes: attributes, policy: policy, with: secret, keys: itemKeys,
          keeping: later)
      } else if isRebound {
        // If the policy changes, seal the present secret again under the new one.
        let present = try store.sealedSecret(of: old, item).open(with: itemKeys)
        try rewrite(
          &row, item: item, attributes: attributes, policy: policy, with: present, keys: itemKeys,
          keeping: later)
      } else {
        try rewrite(&row, attributes: attributes, policy: policy, keeping: later)
      }
    } else {
      try rewrite(&row, attributes: attributes, policy: policy, keeping: later)
    }
    self.changes.underWay += 1
    let summand = keys.summand
    head.sum -= summand.item(old)
    head.sum += summand.item(row)
    noteExpiry(row.expires)
    let before = index.values(of: item.attributes)
    let after = index.values(of: attributes)
    for value in before where !after.contains(value) { try removeBlind(value, of: row) }
    for value in after where !before.contains(value) { try addBlind(value, to: row) }
    try log(AuditNote(operation: .itemUpdated, item: id, kind: item.kind))
    self.changes.underWay -= 1
    return try store.open(row)
  }

  /// Deletes an item permanently, even a damaged one that does not open. Never prompts. A PIN is deleted only together
  /// with all items behind it: otherwise the transaction fails with ``VaultError/Code/policy`` when it ends. A client
  /// registration takes its token set with it, and a credential the transactions that its server sent.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``; ``VaultError/Code/locked`` where a passcode is set and the vault is locked,
  ///   unless the item is of ``Accessibility/afterFirstUnlock``.
  public mutating func delete(_ id: ItemID) throws(VaultError) {
    let row = try store.row(of: id)
    // The class of an item that does not open is not known.
    try Gate.permitWithoutSecret(on: try? store.open(row), keys: store.keys)
    try destroy(id)
  }

  /// As ``delete(_:)``, by the rules of a component that ends its items: also in a locked vault.
  package mutating func destroy(_ id: ItemID) throws(VaultError) {
    let row = try store.row(of: id)
    if ItemRule.of(ItemKind(rawValue: row.kind)).staysUnderOthers { changes.removedPINs.insert(id) }
    let item: Item
    do throws(VaultError) { item = try store.open(row) } catch {
      guard error.isUnreadable else { throw error }
      return try removeUnreadable(row)
    }
    try remove(row, item: item)
    try log(
      AuditNote(operation: .itemDeleted, item: id, kind: item.kind, detail: item.name))
    if item.kind == .clientRegistration { try destroy(.tokenSet, of: id) }
    if item.kind == .otp { try destroy(.transaction, of: id) }
  }

  /// Items that have another one as their account are of no use without it: no name leads to tokens, and nothing can answer a
  /// transaction. One that does not open stays.
  private mutating func destroy(_ kind: ItemKind, of owner: ItemID) throws(VaultError) {
    var attributes = Attributes()
    attributes[.account] = owner.hexadecimal
    let found = try reading.items(matching: Query(kind, where: attributes), damaged: { _, _ in })
    for item in found { try destroy(item.id) }
  }

  /// A PIN item may have been deleted while the person typed: what is put behind it then would never open.
  private mutating func refuseUnlessPIN(_ id: ItemID) throws(VaultError) {
    guard try store.open(store.row(of: id)).kind == .pin else {
      throw VaultError(.itemNotFound, "the item that is to guard the new one is no PIN")
    }
  }

  /// Deletes items that can never open again, and returns their names.
  mutating func deleteLost(_ ids: [ItemID]) throws(VaultError) -> [(id: ItemID, name: String?)] {
    var lost: [(id: ItemID, name: String?)] = []
    for id in ids {
      let row = try store.row(of: id)
      let item = try store.open(row)
      try remove(row, item: item)
      try log(AuditNote(operation: .itemDeleted, item: id, kind: item.kind, detail: item.name))
      lost.append((id, item.name))
    }
    return lost
  }

  /// Refuses the end of a transaction that deleted a PIN and left items behind it, which would never open again. An item
  /// that only a later version reads may be one of them. A deleted row whose attributes do not open may have been any PIN that is
  /// missing now.
  ///
  /// - Throws: ``VaultError/Code/policy``.
  mutating func refuseOrphans() throws(VaultError) {
    var removed = changes.removedPINs
    let countsNewer = !removed.isEmpty
    if changes.removedUnknown { removed.formUnion(try store.missingPINs()) }
    guard !removed.isEmpty else { return }
    var left = 0
    var named: [String] = []
    try store.forEachItem(damaged: { _, error in left += countsNewer && error.isNewerVersion ? 1 : 0 }) {
      item throws(VaultError) in
      guard let pin = item.policy.guardingPINItem, removed.contains(pin) else { return true }
      left += 1
      if named.count < 3 { named.append(item.name ?? item.id.hexadecimal) }
      return true
    }
    let names = named.isEmpty ? "" : ": \(named.joined(separator: ", "))" + (left > named.count ? ", …" : "")
    guard left == 0 else {
      throw VaultError(
        .policy,
        "\(left) \(left == 1 ? "item is" : "items are") behind the PIN and would never open again\(names)",
        hint: Hint(.deleteWithPIN, saying: "delete them in the same transaction, or first"))
    }
  }

  /// One secret is masked once in its life: two masks of one length under the same digits reveal the PIN.
  private func refuseSecondMask(of item: Item) throws(VaultError) {
    guard try item.policy.requirements().pin?.mode == .camouflaged else { return }
    throw VaultError(
      .policy, "the secret behind a camouflaged PIN is never replaced",
      hint: "delete the item, have the server make a new secret, and add that")
  }

  /// Removes all rows of an item. Those that it has none of, something else added: they were never counted.
  mutating func remove(_ row: ItemRow, item: Item) throws(VaultError) {
    let keys = try store.keys(of: row.generation)
    let summand = keys.summand
    changes.underWay += 1
    if let material = try store.rows.material(row: row.row) {
      if item.hasSecret {
        head.sum -= summand.material(row.row, material)
        try uncountRow()
      }
      _ = try store.rows.deleteMaterial(row: row.row)
    }
    if let state = try store.rows.state(row: row.row) {
      var isOurs = item.kind.mayHaveState
      if !isOurs { isOurs = try store.state(of: row) != nil }
      if isOurs {
        head.sum -= summand.state(row.row, state.body)
        try uncountRow()
      }
      _ = try store.rows.deleteState(row: row.row)
    }
    for value in keys.blindIndex.values(of: item.attributes) { try removeBlind(value, of: row) }
    try removeRow(row, summand: summand)
    changes.underWay -= 1
  }

  /// The last step of a removal.
  mutating func removeRow(_ row: ItemRow, summand: Summand) throws(VaultError) {
    _ = try store.rows.deleteItem(row: row.row)
    head.sum -= summand.item(row)
    try uncountRow()
    guard head.itemCount > 0 else { throw Self.miscounted }
    head.itemCount -= 1
    resumeRotation(after: row)
    changes.isDirty = true
    changes.needsCleaning = true
  }

  mutating func uncountRow() throws(VaultError) {
    guard head.summedRows > 0 else { throw Self.miscounted }
    head.summedRows -= 1
  }

  private static var miscounted: VaultError {
    VaultError(
      .damaged, "the vault has more rows than its head row counts",
      hint: .verifyAndRestore)
  }

  // MARK: Parts of a row

  /// Seals the attributes and the policy, and binds all plain columns of the row to them.
  ///
  /// - Parameter later: Fields of `meta` that this version does not know. They stay in the row.
  mutating func seal(
    _ row: inout ItemRow, attributes: Attributes, policy: Policy, keeping later: Record?
  ) throws(VaultError) {
    row.meta = try store.sealedMeta(of: row, attributes: attributes, policy: policy, keeping: later)
    noteSeal(of: row.generation)
    changes.isDirty = true
  }

  private mutating func insert(_ row: inout ItemRow, attributes: Attributes, policy: Policy)
    throws(VaultError)
  {
    try seal(&row, attributes: attributes, policy: policy, keeping: nil)
    let row = row
    try store.rows.insertItem(row)
  }

  mutating func rewrite(
    _ row: inout ItemRow, attributes: Attributes, policy: Policy, keeping later: Record?
  ) throws(VaultError) {
    try seal(&row, attributes: attributes, policy: policy, keeping: later)
    let row = row
    _ = try store.rows.updateItem(row)
  }

  /// Changes the row of an item, or attributes on which no index depends. Needs no key of its secret, so the item stays in its
  /// generation while a rotation of the epoch is under way: to move it, its key would have to open.
  @discardableResult
  mutating func rewriteInGeneration(
    _ id: ItemID, _ change: (inout ItemRow, inout Attributes) -> Void
  ) throws(VaultError) -> ItemRow {
    let old = try store.row(of: id)
    let item = try store.open(old)
    let summand = try store.keys(of: old.generation).summand
    let later = try store.laterFields(of: old, item: item)
    var (row, attributes) = (old, item.attributes)
    row.version += 1
    change(&row, &attributes)
    changes.underWay += 1
    try rewrite(&row, attributes: attributes, policy: item.policy, keeping: later)
    head.sum -= summand.item(old)
    head.sum += summand.item(row)
    changes.underWay -= 1
    return row
  }

  /// Writes the row, then its secret under a new data key.
  ///
  /// A holder of the device key can seal another policy into the row, but not into the parts that the class key
  /// seals. So the old data key must open under this policy before a new secret is wrapped under it.
  private mutating func rewrite(
    _ row: inout ItemRow, item: Item, attributes: Attributes, policy: Policy,
    with secret: borrowing SecretBytes, keys: ItemKeys, keeping later: Record?
  ) throws(VaultError) {
    try ItemLimits.check(secretByteCount: secret.byteCount)
    let old = item.hasSecret ? try store.rows.material(row: row.row) : nil
    if item.hasSecret { _ = try SealedSecret(store.vault, row, item.policy, old).dataKey(with: keys) }
    row.flags |= ItemFlags.hasSecret
    row.material += 1
    try rewrite(&row, attributes: attributes, policy: policy, keeping: later)
    changes.underWay += 1
    try setMaterial(secret, of: row, policy: policy, under: keys, replacing: old)
    changes.underWay -= 1
    changes.needsCleaning = true
  }

  private mutating func setMaterial(
    _ secret: borrowing SecretBytes, of row: ItemRow, policy: Policy, under keys: ItemKeys,
    replacing old: MaterialRow?
  ) throws(VaultError) {
    let random = store.environment.random
    let seal = MaterialSeal(of: row, in: store.vault, policyHash: policy.hash)
    let dataKey = try random.newSecret(32)
    let content =
      try policy.isWrapped()
      ? try alternatives(to: dataKey, of: row, policy: policy, further: keys.further)
      : SecretBytes(capacity: 33) { output in
        output.append(UInt8(0))
        dataKey.expose { output.append(copying: $0) }
      }
    let material = MaterialRow(
      keys: try seal.sealKeys(content, under: keys.classKey, random: random),
      secret: try seal.sealSecret(secret, under: dataKey, random: random))
    try store.rows.setMaterial(material, row: row.row)
    let summand = store.keys.current.summand
    if let old { head.sum -= summand.material(row.row, old) } else { head.summedRows += 1 }
    head.sum += summand.material(row.row, material)
    changes.isDirty = true
  }

  /// The ways to a data key that its policy allows, without those whose factor no longer exists.
  private func alternatives(
    to dataKey: borrowing SecretBytes, of row: ItemRow, policy: Policy, further: FurtherSecrets
  ) throws(VaultError) -> SecretBytes {
    let further = try further.required(by: policy)
    let header = store.keys.header
    let ways = try policy.ways().filter { $0.allSatisfy(header.isAlive) }
    guard !ways.isEmpty else {
      throw VaultError(
        .policy, "nothing is left that could open the item", hint: "delete it and store it again")
    }
    // The halves come from the header, and only unlocking checks their MAC (section 14, rule 4).
    guard ways.allSatisfy(\.isEmpty) || store.keys.isUnlocked else {
      throw Gate.locked(policy.access, keys: store.keys)
    }
    let place = Alternative.Place(vault: store.vault, row: row, policyHash: policy.hash)
    let random = store.environment.random
    var list: [[UInt8]] = []
    for factors in ways {
      let halves = factors.map { header.factors[$0]! }
      do throws(CryptoError) {
        list.append(
          try Alternative.sealing(
            dataKey, for: factors, halves: halves, further: further, at: place, random: random))
      } catch { throw VaultError(crypto: error) }
    }
    return SecretBytes(copying: [1] + Record.list(list).encoded)
  }

  mutating func addBlind(_ value: [UInt8], to row: ItemRow) throws(VaultError) {
    _ = try store.rows.insertBlind(value: value, row: row.row)
    head.sum += store.keys.current.summand.blind(row.row, value)
    head.summedRows += 1
  }

  mutating func removeBlind(_ value: [UInt8], of row: ItemRow) throws(VaultError) {
    let keys = try store.keys(of: row.generation)
    let isThere = try store.rows.deleteBlind(value: value, row: row.row)
    guard isThere else { return }
    head.sum -= keys.summand.blind(row.row, value)
    try uncountRow()
  }

  /// While two generations are readable, this checks uniqueness in the older one; the database checks it in the newer
  /// one.
  private mutating func refuseDuplicates(of attributes: Attributes, kind: ItemKind) throws(VaultError) {
    guard let previous = store.keys.previous else { return }
    let index = previous.blindIndex
    if let name = index.name(of: attributes),
      try store.rows.item(name: name) != nil
    {
      throw VaultError.sameName
    }
    let key = index.primaryKey(of: kind, attributes)
    if try store.rows.item(primaryKey: key) != nil {
      throw VaultError.sameAttributes
    }
  }

  mutating func noteExpiry(_ expires: Int64?) {
    guard let expires else { return }
    let earliest = head.earliestExpiry
    head.earliestExpiry = earliest == 0 ? max(expires, 1) : min(earliest, max(expires, 1))
  }
}

extension FurtherSecrets {
  /// Exactly the secrets that a policy requires.
  fileprivate func required(by policy: Policy) throws(VaultError) -> FurtherSecrets {
    let names = try policy.furtherSecrets()
    guard !names.contains(.password) || password != nil else {
      throw VaultError(
        .policy, "an application password guards a secret from its first day",
        hint: "delete the item and add it with its secret")
    }
    guard self.names.isSuperset(of: names) else {
      throw VaultError(
        .verificationNeeded, "the item's key is behind a PIN or a session, which was not given",
        hint: "use it through its component")
    }
    guard [pin, session].allSatisfy({ $0.map { $0.bytes.byteCount == 32 } ?? true }) else {
      throw VaultError(.malformed, "a session, or what a PIN opens, has 32 bytes", hint: "give all 32 bytes")
    }
    return FurtherSecrets(
      password: names.contains(.password) ? password : nil, pin: names.contains(.pin) ? pin : nil,
      session: names.contains(.session) ? session : nil)
  }
}
