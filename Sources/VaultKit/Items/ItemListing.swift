package import VaultFormat

/// Items in the order of insertion, and those that do not open.
package struct ItemListing: Sendable {
  package struct Unreadable: Sendable {
    package let id: ItemID
    package let error: VaultError

    package init(_ id: ItemID, _ error: VaultError) { (self.id, self.error) = (id, error) }
  }

  /// Why a credential that counts its codes gives none.
  package enum CounterMark: Sendable {
    /// The last code of the counter was made: it never gives one again.
    case atEnd
    /// The counter may be behind its server, and must be set first.
    case mustBeSet
    /// Its state does not open.
    case damaged
  }

  package var items: [Item] = []
  package var unreadable: [Unreadable] = []
  /// The credentials among the items whose counter gives no code.
  package private(set) var counterMarks: [ItemID: CounterMark] = [:]
  /// The moment of the list, by which items have expired.
  package let moment: ExpiryMoment

  package init(items: [Item] = [], unreadable: [Unreadable] = [], moment: ExpiryMoment) {
    (self.items, self.unreadable, self.moment) = (items, unreadable, moment)
  }

  /// Looks at the counters of the items, in the transaction that listed them.
  mutating func markCounters(in transaction: inout ReadTransaction) throws(VaultError) {
    var marks: [ItemID: CounterMark] = [:]
    let counting = items.filter(\.countsCodes)
    try transaction.forEachState(of: counting, damaged: { id, _ in marks[id] = .damaged }) { item, state in
      if state.isBlocked {
        marks[item.id] = .atEnd
      } else if state.needsResync, item.isCountingProver {
        marks[item.id] = .mustBeSet
      }
    }
    counterMarks = marks
  }
}
