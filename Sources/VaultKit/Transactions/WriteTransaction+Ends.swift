package import VaultFormat
import SealedStorage
import VaultStorage

/// The end of what has a life (section 12), such as tokens: its secret leaves the file, and its row stays for a day.
extension WriteTransaction {
  /// Ends the items that are not valid. Every write transaction begins with this; it costs nothing while the head row says that
  /// there is none, and a look at the clocks while none is due and the clocks agree.
  ///
  /// - Parameter all: Ends those that are valid too: in a copy or an old state of the file, they may have been used.
  mutating func endItems(all: Bool) throws(VaultError) {
    let clock = store.environment.clock
    guard head.nextTokenEnd != NextTokenEnd() else { return }
    guard all || head.nextTokenEnd.isDue(clock) || store.time.isDisputed else { return }
    let ended = changes.endedItems
    var next = NextTokenEnd()
    for item in try itemsWithLife() where item.hasSecret {
      guard let life = item.tokenLife else { continue }
      let isOver = life.standing(clock) == .over
      guard isOver || all else {
        next.note(life)
        continue
      }
      do throws(VaultError) {
        try end(item, isOver: isOver)
      } catch {
        // A state that does not open must not prevent every commit.
        guard error.isUnreadable, !changes.isHalfDone else { throw error }
      }
    }
    guard next != head.nextTokenEnd || changes.endedItems > ended else { return }
    head.nextTokenEnd = next
    changes.isDirty = true
  }

  private mutating func end(_ item: Item, isOver: Bool) throws(VaultError) {
    guard let rule = item.kind.rules.policy.end else { return }
    if let mark = rule.mark {
      try changeState(of: item.id) { mark(&$0, isOver) }
    }
    try deleteSecret(
      of: item, logging: rule.operation,
      detail: isOver ? "its time is over" : "the file is a copy or an older state")
  }

  /// Deletes the secret of an item in this commit, and lets its row expire now. The item must have one.
  package mutating func deleteSecret(
    of item: Item, logging operation: AuditOperation, detail: String?
  ) throws(VaultError) {
    try deleteSecret(of: item.id)
    changes.endedItems += 1
    try log(operation, item: item, detail: detail)
  }

  /// All items of kinds that have a life, those that have ended too.
  package mutating func itemsWithLife() throws(VaultError) -> [Item] { try store.itemsWithLife() }

  /// How many items this transaction has ended, those included that it ended by itself.
  package var endedItems: Int { changes.endedItems }

  /// Deletes the secret of an item, which expires now. Needs no key of the secret.
  private mutating func deleteSecret(of id: ItemID) throws(VaultError) {
    let now = store.time.now.milliseconds
    try rewriteInGeneration(id, deletingSecret: true) { row, _ in
      row.flags &= ~ItemFlags.hasSecret
      row.material = 0
      row.expires = min(row.expires ?? .max, now)
    }
  }
}

extension SealedStore {
  /// All items of kinds that have a life, those that have ended too. Each has an expiry, so no other item is read. One that does
  /// not open is left out: it must not keep the others.
  fileprivate mutating func itemsWithLife() throws(VaultError) -> [Item] {
    var found: [Item] = []
    for number in try rows.expired(before: .max) {
      guard let row = try rows.item(row: number) else { continue }
      guard ItemKind(rawValue: row.kind).rules.policy.end != nil else { continue }
      do throws(VaultError) { found.append(try open(row)) } catch {
        guard error.isUnreadable else { throw error }
      }
    }
    return found
  }
}

extension ReadTransaction {
  /// Whether a write would end an item: its time is over by one of the clocks.
  mutating func hasItemToEnd(_ next: NextTokenEnd) throws(VaultError) -> Bool {
    let clock = store.environment.clock
    if next.isDue(clock) { return true }
    guard next != NextTokenEnd(), store.time.isDisputed else { return false }
    return try store.itemsWithLife().contains { $0.hasSecret && $0.tokenLife?.standing(clock) == .over }
  }
}

extension Item {
  /// How long it is valid; `nil` without such a limit, and for a policy that this version does not understand.
  package var tokenLife: TokenLife? { policy.understood?.life }
}
