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
    let entry = try entry(joinedBy: new)
    if entry != nil { attributes.record[Attribute<String>.name.code] = nil }
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
    if new.trashedUntil == nil { try refuseDuplicates(of: attributes, kind: new.kind) }
    let id = if let given = new.id { given.bytes } else { try store.environment.random.newBytes(16) }
    let policy = Policy(
      access: new.access, audit: new.audit, factors: rule.factors,
      isExportable: new.kind.rules.dependsOnExport && new.isExportable, requirements: new.requirements)
    var row = ItemRow(
      row: head.nextRow, id: Bytes16(id), kind: new.kind.rawValue,
      primaryKey: try index.primaryKey(of: new.kind, attributes, id: ItemID(id)),
      name: index.name(of: attributes), flags: 0,
      class: new.access.classNumber, generation: keys.generation, version: 1, material: 0,
      expires: new.expires?.milliseconds, meta: [])
    var after = ItemRows(row.row, under: keys)
    if let secret = consume secret {
      try ItemLimits.check(secretByteCount: secret.byteCount)
      try new.kind.rules.attributes.checkSecret(secret)
      let further = component.furtherSecrets(password: password)
      let itemKeys = ItemKeys(classKey: rule.classKey, further: further)
      after.former = try former(of: new, row: row, policy: policy, under: itemKeys)
      row.flags |= ItemFlags.hasSecret | (new.isEntry ? ItemFlags.entry : 0)
      row.material = 1 + UInt64(after.former.count)
      after.material = try sealed(secret, of: row, policy: policy, under: itemKeys)
    }
    try discard(&row, &attributes, as: new)
    row.meta = try store.sealedMeta(of: row, attributes: attributes, policy: policy, keeping: nil)
    after.item = row
    after.index = new.trashedUntil == nil ? index.values(of: attributes) : []
    if new.hasState { after.state = try sealed(new.state.bytes, of: row.id, under: keys) }
    try replace(
      ItemRows(row.row, under: keys), with: after,
      noting: AuditNote(operation: .itemAdded, item: ItemID(id), kind: new.kind))
    head.nextRow += 1
    if after.material != nil, let life = new.tokenLife { head.nextTokenEnd.note(life) }
    let item = Item(row.fields, attributes: attributes, policy: policy)
    guard let entry else { return item }
    try join(item.id, to: entry)
    return item.found(by: entry)
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
    try update(id, changes, secret: secret, by: nil)
  }

  /// - Parameter component: The component of the item's kind, if it changes its item.
  package mutating func update(
    _ id: ItemID, _ changes: ItemChanges, secret: consuming SecretBytes?, by component: Component?
  ) throws(VaultError) -> Item {
    guard let secret else { return try update(id, changes, content: .same, by: component) }
    let new = SharedSecret(secret)
    return try update(id, changes, content: .secret(new), by: component)
  }

  /// What becomes of the secret of an item.
  enum NewContent {
    case same
    /// Another secret. Of an entry, another password: all else that it keeps stays.
    case secret(SharedSecret)
    case edited((inout EntryContent) throws(VaultError) -> Void)

    var isSame: Bool {
      if case .same = self { return true }
      return false
    }
  }

  mutating func update(
    _ id: ItemID, _ changes: ItemChanges, content: NewContent, by component: Component?
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
    try item.check(attributes)
    var row = old
    row.version += 1
    if let expires = changes.expires { row.expires = expires?.milliseconds }
    let policy = item.policy.with(audit: changes.audit, expiry: changes.expiry)
    let isRebound = item.isRebound(by: changes)
    if isRebound { try Gate.permitSealingAgain(item) }
    var (before, after) = (ItemRows(row.row, under: keys, item: old), ItemRows(row.row, under: keys))
    var isOther = false
    if !content.isSame || isRebound || item.access.asksPerson {
      let operation: ItemOperation = content.isSame ? .update : .replace
      let decision = try Gate.decide(
        operation, on: item, row: old, in: store, by: component,
        with: reading.takeGrant(for: operation, on: id))
      try log(decision.notes)
      let itemKeys = decision.opening.spend(on: item.id)
      if item.hasSecret, !content.isSame || isRebound {
        before.material = try store.rows.material(row: row.row)
      }
      if let made = try made(
        content, of: old, item, isRebound: isRebound, with: itemKeys, &row, &attributes)
      {
        isOther = made.isOther
        after.material = try resealed(
          made.secret.bytes, of: &row, item: item, policy: policy, under: itemKeys, replacing: before.material
        )
      }
    }
    try refuseDuplicates(of: attributes, kind: item.kind)
    attributes[.creationDate] = item.created
    attributes[.modificationDate] = store.now
    let index = keys.blindIndex
    row.primaryKey = try index.primaryKey(of: item.kind, attributes, id: id)
    row.name = index.name(of: attributes)
    row.meta = try store.sealedMeta(
      of: row, attributes: attributes, policy: policy, keeping: store.laterFields(of: old, item: item))
    after.item = row
    (before.index, after.index) = (index.values(of: item.attributes), index.values(of: attributes))
    if item.kind.rules.canBeEntry, before.material != nil || changes.forgetsFormer {
      before.former = try store.formerRows(of: old)
      after.former = before.former
      // They are bound to the rule that they were stored under.
      if isRebound || changes.forgetsFormer || attributes[.name] == nil {
        after.former = []
      } else if let material = before.material, isOther {
        after.former.append(try store.former(material, of: old, until: store.now))
        after.former = after.former.suffix(ItemLimits.formerCount)
      }
    }
    try replace(
      before, with: after, noting: AuditNote(operation: .itemUpdated, item: id, kind: item.kind))
    return try store.open(row)
  }

  /// The secret that an update seals; `nil` where the present one stays as it is. It is another one only if its bytes are other: the same
  /// content again takes no place among the former secrets.
  private mutating func made(
    _ content: NewContent, of old: ItemRow, _ item: Item, isRebound: Bool, with keys: ItemKeys,
    _ row: inout ItemRow, _ attributes: inout Attributes
  ) throws(VaultError) -> (secret: SharedSecret, isOther: Bool)? {
    switch content {
    case .same:
      // If the policy changes, the present secret is sealed again under the new one.
      guard isRebound else { return nil }
      return (SharedSecret(try store.sealedSecret(of: old, item).open(with: keys)), false)
    case .secret(let secret):
      try refuseSecondMask(of: item)
      try item.kind.rules.attributes.checkSecret(secret.bytes)
      guard item.isEntry else {
        guard item.kind.rules.canBeEntry, item.hasSecret else { return (secret, true) }
        // One that does not open can be replaced, too.
        let present = try? SharedSecret(store.sealedSecret(of: old, item).open(with: keys))
        return (secret, present?.bytes.isEqualInConstantTime(to: secret.bytes) != true)
      }
      let present = SharedSecret(try store.sealedSecret(of: old, item).open(with: keys))
      var entry = try EntryContent(decoding: present.bytes)
      entry.setPassword(secret.bytes.copy())
      return try Self.made(entry, from: present)
    case .edited(let edit):
      try Gate.permitEntry(item)
      var (entry, present) = (EntryContent(), SharedSecret?.none)
      if item.hasSecret {
        let opened = SharedSecret(try store.sealedSecret(of: old, item).open(with: keys))
        entry = try EntryContent(opened.bytes.copy(), isEntry: item.isEntry)
        present = opened
      }
      let host = entry.host
      try edit(&entry)
      if entry.host != host { attributes[.server] = entry.host }
      if entry.isPlain, !item.isEntry, let password = entry.sharedPassword {
        return (password, present?.bytes.isEqualInConstantTime(to: password.bytes) != true)
      }
      row.flags |= ItemFlags.entry
      return try Self.made(entry, from: item.isEntry ? present : nil)
    }
  }

  private static func made(
    _ entry: EntryContent, from present: SharedSecret?
  ) throws(VaultError) -> (secret: SharedSecret, isOther: Bool) {
    let record = SharedSecret(try entry.encoded())
    return (record, present?.bytes.isEqualInConstantTime(to: record.bytes) != true)
  }

  /// Deletes an item permanently, even a damaged one that does not open. Never prompts. A PIN is deleted only together
  /// with all items behind it: otherwise the transaction fails with ``VaultError/Code/policy`` when it ends. A client
  /// registration takes its token set with it, and a credential the transactions that its server sent.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``; ``VaultError/Code/locked`` where a passcode is set and the vault is locked,
  ///   unless the item is of ``Accessibility/afterFirstUnlock``.
  public mutating func delete(_ id: ItemID) throws(VaultError) {
    let row = try store.row(of: id)
    // Neither the kind nor the class of an item that does not open is known.
    let item = try? store.open(row)
    try Gate.permitWithoutSecret(on: item, keys: store.keys)
    if let item { try leaveOwner(of: item) }
    try destroy(id)
  }

  /// As ``delete(_:)``, by the rules of a component that ends its items: also in a locked vault.
  package mutating func destroy(_ id: ItemID) throws(VaultError) {
    let row = try store.row(of: id)
    if ItemKind(rawValue: row.kind).rules.relations.guardsOthers { changes.removedPINs.insert(id) }
    let item: Item
    do throws(VaultError) { item = try store.open(row) } catch {
      guard error.isUnreadable else { throw error }
      try removeUnreadable(row)
      return try destroyBelongings(of: id, kind: nil)
    }
    try remove(row, item: item, as: .itemDeleted)
    if let owned = try deleted(with: item) { try destroy(owned) }
    try destroyBelongings(of: id, kind: item.kind)
  }

  /// Items that have another one as their account are of no use without it: no name leads to tokens, and nothing can answer a
  /// transaction. One that does not open stays.
  ///
  /// - Parameter kind: That of the owner; `nil` where it is not known.
  mutating func destroyBelongings(of owner: ItemID, kind: ItemKind?) throws(VaultError) {
    guard kind?.isKnown != true || KindRegistry.all.contains(where: { $0.relations.belongsTo == kind }) else {
      return
    }
    var attributes = Attributes()
    attributes[.account] = owner.hexadecimal
    let found = try reading.items(matching: Query(where: attributes), damaged: { _, _ in })
    for item in found where item.kind.rules.canBelong(to: kind) { try destroy(item.id) }
  }

  /// A PIN item may have been deleted while the person typed: what is put behind it then would never open.
  private mutating func refuseUnlessPIN(_ id: ItemID) throws(VaultError) {
    let rules = try store.open(store.row(of: id)).kind.rules
    guard rules.isKnown, rules.relations.guardsOthers else {
      throw VaultError(.itemNotFound, "the item that is to guard the new one is no PIN")
    }
  }

  /// Deletes items that can never open again, and returns their names.
  mutating func deleteLost(_ ids: [ItemID]) throws(VaultError) -> [(id: ItemID, name: String?)] {
    var lost: [(id: ItemID, name: String?)] = []
    for id in ids {
      // What it belongs to may have taken it along.
      guard let row = try store.rows.item(id: id.stored) else { continue }
      let item = try store.open(row)
      try remove(row, item: item, as: .itemDeleted)
      if let owned = try owned(by: item), !ids.contains(owned.id) { try giveName(of: item, to: owned.id) }
      try destroyBelongings(of: id, kind: item.kind)
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
    var walk = ItemWalk()
    while let found = try walk.nextRow(in: &store) {
      switch found {
      case .damaged(_, let error): left += countsNewer && error.isNewerVersion ? 1 : 0
      case .item(let item):
        guard let pin = item.policy.guardingPINItem, removed.contains(pin) else { continue }
        left += 1
        if named.count < 3 { named.append(item.nameInPlace) }
      }
    }
    let names = named.isEmpty ? "" : ": \(named.joined(separator: ", "))" + (left > named.count ? ", …" : "")
    guard left == 0 else {
      throw VaultError(
        .policy,
        "\(left) \(left == 1 ? "item is" : "items are") behind the PIN and would never open again\(names)",
        hint: .deleteWithPIN)
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
  mutating func remove(_ row: ItemRow, item: Item, as operation: AuditOperation) throws(VaultError) {
    let keys = try store.keys(of: row.generation)
    var before = ItemRows(row.row, under: keys, item: row)
    if item.hasSecret { before.material = try store.rows.material(row: row.row) }
    if let state = try store.rows.state(row: row.row) {
      var isOurs = item.kind.mayHaveState
      if !isOurs { isOurs = try store.state(of: row) != nil }
      if isOurs { before.state = state }
    }
    before.index = keys.blindIndex.values(of: item)
    before.former = try store.formerRows(of: row)
    try replace(
      before, with: ItemRows(row.row, under: keys),
      noting: AuditNote(operation: operation, item: item.id, kind: item.kind, detail: item.name))
  }

  // MARK: Parts of a row

  /// Changes the row of an item, or attributes on which no index depends. Needs no key of its secret, so the item stays in its
  /// generation while a rotation of the epoch is under way: to move it, its key would have to open.
  ///
  /// - Parameter deletingSecret: Whether its secret is deleted in the same step.
  mutating func rewriteInGeneration(
    _ id: ItemID, deletingSecret: Bool = false, _ change: (inout ItemRow, inout Attributes) -> Void
  ) throws(VaultError) {
    let old = try store.row(of: id)
    let item = try store.open(old)
    let keys = try store.keys(of: old.generation)
    var (row, attributes) = (old, item.attributes)
    row.version += 1
    change(&row, &attributes)
    row.meta = try store.sealedMeta(
      of: row, attributes: attributes, policy: item.policy, keeping: store.laterFields(of: old, item: item))
    var before = ItemRows(row.row, under: keys, item: old)
    if deletingSecret { before.material = try store.rows.material(row: row.row) }
    try replace(before, with: ItemRows(row.row, under: keys, item: row))
  }

  /// Seals a secret again for an item that is there.
  ///
  /// A holder of the device key can seal another policy into the row, but not into the parts that the class key
  /// seals. So the old data key must open under this policy before a new secret is wrapped under it.
  private func resealed(
    _ secret: borrowing SecretBytes, of row: inout ItemRow, item: Item, policy: Policy, under keys: ItemKeys,
    replacing old: MaterialRow?
  ) throws(VaultError) -> MaterialRow {
    try ItemLimits.check(secretByteCount: secret.byteCount)
    if item.hasSecret { _ = try SealedSecret(store.vault, row, item.policy, old).dataKey(with: keys) }
    row.flags |= ItemFlags.hasSecret
    row.material += 1
    return try sealed(secret, of: row, policy: policy, under: keys)
  }

  /// Seals a secret under a new data key.
  func sealed(
    _ secret: borrowing SecretBytes, of row: ItemRow, policy: Policy, under keys: ItemKeys
  ) throws(VaultError) -> MaterialRow {
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
    return MaterialRow(
      keys: try seal.sealKeys(content, under: keys.classKey, random: random),
      secret: try seal.sealSecret(secret, under: dataKey, random: random))
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

  /// While two generations are readable, this checks uniqueness in the older one; the database checks it in the newer
  /// one.
  mutating func refuseDuplicates(of attributes: Attributes, kind: ItemKind) throws(VaultError) {
    guard let previous = store.keys.previous else { return }
    let index = previous.blindIndex
    if let name = index.name(of: attributes), try store.rows.item(name: name) != nil {
      throw VaultError.sameName
    }
    if attributes[.name] == nil, kind.rules.attributes.namelessHasOwner { return }
    let key = try index.primaryKey(of: kind, attributes, id: nil)
    if try store.rows.item(primaryKey: key) != nil {
      throw VaultError.sameAttributes
    }
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
