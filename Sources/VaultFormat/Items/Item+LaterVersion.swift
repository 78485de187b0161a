extension Item {
  /// Whether its kind, a flag or a rule belongs to a later version. Such an item is listed, kept, renamed and deleted.
  /// Its secret is neither opened nor sealed, and what this version does not know about it is no damage.
  package var isOfLaterVersion: Bool {
    guard kind.isKnown, !hasFlagOfLaterVersion, policy.fits(kind) else { return true }
    do throws(VaultError) {
      _ = try policy.requirements()
      return false
    } catch { return error.isNewerVersion }
  }

  /// Whether it is an entry, or in the trash, though no item of its kind is in this version.
  package var hasFlagOfLaterVersion: Bool { ItemFlags.areOfLaterVersion(flags, kind) }

  /// The PIN item without which the item cannot be used. `nil` for an item of a later version: what its rules say of a PIN is
  /// unknown here, so a missing PIN is no damage. What keeps a PIN asks ``Policy/guardingPINItem``, which looks at each rule.
  package var neededPINItem: ItemID? {
    isOfLaterVersion ? nil : policy.understood?.pin?.item
  }
}
