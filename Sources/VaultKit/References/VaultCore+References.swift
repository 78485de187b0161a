public import SecretMemory
public import VaultFormat
import SealedStorage
import VaultStorage

/// The values of references, all of one state of the vault.
extension VaultCore {
  /// The values, in the order in which they are asked for. Audit entries are durable before any of them is returned.
  ///
  /// Every name is looked up before anybody is asked. Then the items whose access rule asks for a person are opened, each after its own
  /// verification. All others are opened in one transaction, which also finds that those are still what they were.
  ///
  /// - Parameter context: Gives the context that verifies the person for an item.
  /// - Throws: ``WantedFailure`` if there is no such item or field, or the item refuses it; what `context` throws; what the verification
  ///   throws; ``VaultError/Code/busy`` if an item was changed while a person was asked.
  package func values(
    of wanted: [WantedValue], verifying context: (Item) throws -> AuthenticationContext?
  ) throws -> [GivenValue] {
    var first = try beginReading()
    let found = try first.find(wanted)
    guard found.asking.isEmpty else {
      first.end()
      var opened: [ItemID: VerifiedReading] = [:]
      for item in found.asking { opened[item.id] = try reading(of: item, context: context(item)) }
      return try values(of: wanted, found, opened, from: nil)
    }
    return try values(of: wanted, found, [:], from: first)
  }

  private func values(
    of wanted: [WantedValue], _ seen: FoundItems, _ opened: [ItemID: VerifiedReading],
    from first: consuming ReadTransaction?
  ) throws -> [GivenValue] {
    var begun = first == nil ? 1 : 0
    var transaction = try beginReading(
      seen.needsPasscode ? .unlocked : .free, from: first, context: nil,
      checking: { _ throws(VaultError) in begun += 1 })
    var found = seen
    if begun > 1 {
      found = try transaction.find(wanted)
      guard found.items.map(\.id) == seen.items.map(\.id) else { throw Self.changed }
    }
    for reading in opened.values { try transaction.refuseChanged(reading) }
    var opening = FieldOpening(opened: opened.mapValues(\.fields))
    var given: [GivenValue] = []
    for (index, value) in wanted.enumerated() {
      given.append(try opening.value(value, at: index, of: found.items[index], in: &transaction))
    }
    transaction.end()
    try logReading(opening.notes)
    return given
  }

  /// Opens an item whose access rule asks for a person, as ``secret(of:by:context:)``.
  private func reading(
    of item: Item, context: AuthenticationContext?
  ) throws(VaultError) -> VerifiedReading {
    var transaction = try beginReading(.secret(.read, of: item.id, by: nil), context: context)
    let opened = try transaction.openFields(of: item)
    let reading = VerifiedReading(
      EntryFields(opened.content), row: try transaction.store.row(of: item.id),
      session: transaction.store.identity, config: transaction.store.keys.header.config)
    transaction.end()
    try logReading(opened.notes)
    return reading
  }

  static var changed: VaultError {
    VaultError(.busy, "an item was changed while a person was asked", hint: "try again")
  }
}

/// The items of wanted values in one state of the vault.
struct FoundItems {
  /// One for each value.
  fileprivate(set) var items: [Item] = []
  /// Those whose access rule asks for a person, each once.
  fileprivate(set) var asking: [Item] = []
  /// Whether others need the unlocked vault.
  fileprivate(set) var needsPasscode = false
}

/// An item that was opened after the verification of a person, and what shows that it is unchanged.
private final class VerifiedReading: Sendable {
  let fields: EntryFields
  fileprivate let row: ItemRow
  fileprivate let session: UInt64
  fileprivate let config: UInt64

  init(_ fields: EntryFields, row: ItemRow, session: UInt64, config: UInt64) {
    (self.fields, self.row, self.session, self.config) = (fields, row, session, config)
  }
}

/// The items that one transaction has opened, each once.
private struct FieldOpening {
  private var opened: [ItemID: EntryFields]
  /// To be logged before a value is shown.
  private(set) var notes: [AuditNote] = []

  init(opened: [ItemID: EntryFields]) { self.opened = opened }

  mutating func value(
    _ wanted: WantedValue, at index: Int, of item: Item, in transaction: inout ReadTransaction
  ) throws(WantedFailure) -> GivenValue {
    do throws(VaultError) {
      let value = try value(of: wanted.field, of: item, in: &transaction)
      return GivenValue(value: value, item: item, isSealed: wanted.isSealed)
    } catch { throw WantedFailure(index: index, item: item, error: error) }
  }

  private mutating func value(
    of field: String, of item: Item, in transaction: inout ReadTransaction
  ) throws(VaultError) -> FieldValue {
    if let attribute = Item.attribute(of: field) { return try item.value(of: attribute, named: field) }
    let fields: EntryFields
    if let known = opened[item.id] {
      fields = known
    } else {
      let new = try transaction.openFields(of: item)
      notes += new.notes
      fields = EntryFields(new.content)
      opened[item.id] = fields
    }
    return try fields.value(of: field)
  }
}

extension ReadTransaction {
  /// Looks up what is wanted. Nobody is asked here.
  fileprivate mutating func find(_ wanted: [WantedValue]) throws(WantedFailure) -> FoundItems {
    var found = FoundItems()
    var (named, looked): ([String: Item], Set<ItemID>) = ([:], [])
    for (index, value) in wanted.enumerated() {
      var item = named[value.name]
      do throws(VaultError) {
        let known: Item
        if let item { known = item } else { known = try self.item(named: value.name) }
        item = known
        named[value.name] = known
        found.items.append(known)
        if value.isReference { try known.refuseReference() }
        if value.isSealed, looked.insert(known.id).inserted { try look(at: known, &found) }
      } catch { throw WantedFailure(index: index, item: item, error: error) }
    }
    return found
  }

  private mutating func look(at item: Item, _ found: inout FoundItems) throws(VaultError) {
    switch try missing(for: .secret(.read, of: item.id, by: nil)) {
    case .passcode: found.needsPasscode = true
    case .person: found.asking.append(item)
    case nil: break
    }
  }

  fileprivate mutating func refuseChanged(_ reading: VerifiedReading) throws(VaultError) {
    guard store.identity == reading.session, store.keys.header.config == reading.config,
      try store.rows.item(id: reading.row.id) == reading.row
    else { throw VaultCore.changed }
  }

  /// The value that a reference means.
  ///
  /// - Parameters:
  ///   - reference: The reference.
  ///   - context: As of ``secret(of:context:)``: an item that asks for a person, or whose reading is logged, is prepared before.
  /// - Throws: ``VaultError/Code/itemNotFound`` without such an item or field; ``VaultError/Code/policy`` for an item of a component,
  ///   whose secrets no reference gives; and as ``secret(of:context:)``.
  public mutating func value(
    of reference: VaultReference, context: AuthenticationContext? = nil
  ) throws(VaultError) -> SecretBytes {
    let item = try item(named: reference.name)
    try item.refuseReference()
    if let attribute = Item.attribute(of: reference.field) {
      return try item.value(of: attribute, named: reference.field).secret.bytes.copy()
    }
    let opened = try openFields(of: item, with: context?.memory.takeGrant(for: item.id))
    try refuseUnlogged(opened.notes)
    return try EntryFields(opened.content).value(of: reference.field).secret.bytes.copy()
  }

  /// What an item keeps under its seal. The secret of an item that is no password counts as one.
  fileprivate mutating func openFields(
    of item: Item, with grant: consuming Grant? = nil
  ) throws(VaultError) -> OpenedEntry {
    if item.kind.rules.canBeEntry { return try openEntry(of: item.id, .read, with: grant) }
    let opened = try openSecret(of: item.id, .read, with: grant)
    let notes = opened.notes
    return OpenedEntry(content: EntryContent(password: opened.intoSecret()), notes: notes)
  }
}

extension WriteTransaction {
  /// The value that a reference means, as ``ReadTransaction/value(of:context:)``.
  public mutating func value(
    of reference: VaultReference, context: AuthenticationContext? = nil
  ) throws(VaultError) -> SecretBytes {
    try reading.value(of: reference, context: context)
  }
}

extension Item {
  /// Refuses what a reference never gives: an item of a component, also where its attributes are public, and one behind a PIN.
  fileprivate func refuseReference() throws(VaultError) {
    if case .component(let name, let hint) = kind.rules.secret {
      throw VaultError(
        .policy, "the item is \(name), and a reference gives no field of it",
        hint: hint ?? "use it through its component")
    }
    guard policy.guardingPINItem == nil else {
      throw VaultError(.policy, "a PIN guards the item, and a reference gives no PIN")
    }
  }
}
