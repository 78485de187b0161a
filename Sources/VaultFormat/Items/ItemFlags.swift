/// Bits of `item.flags` (section 6).
package enum ItemFlags {
  package static let hasSecret: UInt32 = 4
  /// An entry record, or an item in the trash: a later version sets these bits, and this one opens no such item.
  package static let ofLaterVersion: UInt32 = 16 | 32
}
