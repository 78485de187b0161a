package import VaultFormat

/// The name of a class key: its class number and its generation.
package struct ClassKeyName: Hashable, Sendable {
  package let number: UInt8
  package let generation: UInt32

  package init(number: UInt8, generation: UInt32) {
    self.number = number
    self.generation = generation
  }

  package init(_ address: SlotAddress) {
    self.init(number: UInt8(truncatingIfNeeded: address.subject), generation: address.generation)
  }
}
