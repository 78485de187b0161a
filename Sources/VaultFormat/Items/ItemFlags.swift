/// Bits of `item.flags` (section 6).
package enum ItemFlags {
  package static let hasSecret: UInt32 = 4
}
