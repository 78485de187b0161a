/// How many rows there are.
package struct RowCounts: Equatable, Sendable {
  package var items: Int
  package var materials: Int
  package var states: Int
  package var blinds: Int
  package var former: Int

  package init(items: Int, materials: Int, states: Int, blinds: Int, former: Int = 0) {
    self.items = items
    self.materials = materials
    self.states = states
    self.blinds = blinds
    self.former = former
  }

  /// The rows that the sum covers.
  package var summed: Int { items + materials + states + blinds + former }
}
