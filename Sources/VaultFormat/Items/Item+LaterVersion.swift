extension Item {
  /// Whether its kind, a flag or a rule belongs to a later version. Such an item is listed, kept, renamed and deleted.
  /// Its secret is neither opened nor sealed, and what this version does not know about it is no damage.
  package var isOfLaterVersion: Bool {
    guard kind.isKnown, flags & ItemFlags.ofLaterVersion == 0, policy.fits(kind) else { return true }
    do throws(VaultError) {
      _ = try policy.requirements()
      return false
    } catch { return error.isNewerVersion }
  }
}
