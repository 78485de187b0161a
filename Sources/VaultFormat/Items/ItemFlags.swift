/// Bits of `item.flags` (section 6).
package enum ItemFlags {
  package static let hasSecret: UInt32 = 4
  /// The secret is the record of an entry (``EntryContent``).
  package static let entry: UInt32 = 16
  /// The item is in the trash: it has no name and no place in the index until it is put back.
  package static let trash: UInt32 = 32

  /// Whether a flag says what no item of this kind is in this version.
  static func areOfLaterVersion(_ flags: UInt32, _ kind: ItemKind) -> Bool {
    flags & entry != 0 && !kind.rules.canBeEntry || flags & trash != 0 && !kind.rules.goesToTrash
  }

  static func areOfTrash(_ flags: UInt32, _ kind: ItemKind) -> Bool {
    flags & trash != 0 && !areOfLaterVersion(flags, kind)
  }
}
