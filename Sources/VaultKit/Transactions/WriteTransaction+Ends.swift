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
      try end(item, isOver: isOver)
    }
    guard next != head.nextTokenEnd || changes.endedItems > ended else { return }
    head.nextTokenEnd = next
    changes.isDirty = true
  }

  private mutating func end(_ item: Item, isOver: Bool) throws(VaultError) {
    guard let rule = item.kind.rules.policy.end else { return }
    let mark = rule.mark.map { mark in { (state: inout ItemState) in mark(&state, isOver) } }
    try end(
      item, logging: rule.operation,
      detail: isOver ? "its time is over" : "the file is a copy or an older state", marking: mark)
  }

  /// Ends an item with a secret: deletes the secret in this commit, and lets the row expire now.
  ///
  /// - Parameter mark: Says so in the state, if that opens: one that does not must keep no secret in the file, and hinder no other
  ///   change. `nil` where nothing is known of the state.
  package mutating func end(
    _ item: Item, logging operation: AuditOperation, detail: String?,
    marking mark: ((inout ItemState) -> Void)? = nil
  ) throws(VaultError) {
    if let mark {
      do throws(VaultError) { try changeState(of: item.id, mark) } catch {
        guard error.isUnreadable, !changes.isHalfDone else { throw error }
      }
    }
    try deleteSecret(of: item.id)
    changes.endedItems += 1
    try log(operation, item: item, detail: detail)
  }

  /// All items with a life, those that have ended too. They may be of a kind that this program does not know.
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
  /// All items with a life, those that have ended too. Each has an expiry, so no other item is read. One that does not open is
  /// left out: it must not keep the others.
  fileprivate mutating func itemsWithLife() throws(VaultError) -> [Item] {
    var found: [Item] = []
    for number in try rows.expired(before: .max) {
      guard let row = try rows.item(row: number) else { continue }
      guard ItemKind(rawValue: row.kind).rules.policy.end != nil else { continue }
      do throws(VaultError) {
        let item = try open(row)
        if item.tokenLife != nil { found.append(item) }
      } catch {
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
  ///
  /// An item of a kind that is not known here ends by its life too: the policy says what it means, whatever the kind.
  package var tokenLife: TokenLife? { policy.understood?.life }
}
