package import VaultFormat

/// What a check of the whole log found.
package struct LogCheck {
  /// How many entries were opened.
  package var entryCount: UInt64 = 0
  /// The entries that do not open. If there are any, the chain is not checked.
  package var unreadable: [(sequence: UInt64, error: VaultError)] = []
  /// What else is wrong, in a few words.
  package var problem: String?
  /// Whether the MACs were compared, which needs the audit roots.
  package var isChainChecked = false
}
