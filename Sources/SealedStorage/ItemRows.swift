package import VaultFormat
package import VaultKeys
package import VaultStorage

/// Rows of one item, or of the vault itself (row 0), as the file has them or is to have them. A change has such rows before it
/// and after it; a row that stays as it is is in neither.
package struct ItemRows: Sendable {
  package let number: Int64
  private let summand: Summand
  package var item: ItemRow?
  package var material: MaterialRow?
  package var state: StateRow?
  /// Values of the index.
  package var index: [[UInt8]] = []
  /// Former secrets.
  package var former: [FormerRow] = []

  /// - Parameter keys: Those of the generation that the rows have.
  package init(_ number: Int64, under keys: GenerationKeys, item: ItemRow? = nil) {
    self.number = number
    self.item = item
    summand = keys.summand
  }

  // What each row adds to S (section 8).
  package var itemSum: Sum256? { item.map(summand.item) }
  package var materialSum: Sum256? { material.map { summand.material(number, $0) } }
  package var stateSum: Sum256? { state.map { summand.state(number, $0.body) } }
  package func sum(of former: FormerRow) -> Sum256 { summand.former(number, former) }
  package func sum(ofIndex value: [UInt8]) -> Sum256 { summand.blind(number, value) }

  /// How many they are.
  package var count: UInt64 {
    UInt64(index.count + former.count) + (item == nil ? 0 : 1) + (material == nil ? 0 : 1)
      + (state == nil ? 0 : 1)
  }

  /// What all of them add to S.
  package var sum: Sum256 {
    var sum = Sum256()
    for part in [itemSum, materialSum, stateSum].compactMap({ $0 }) { sum += part }
    for value in index { sum += self.sum(ofIndex: value) }
    for former in former { sum += self.sum(of: former) }
    return sum
  }
}
