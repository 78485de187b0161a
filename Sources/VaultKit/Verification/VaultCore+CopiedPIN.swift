package import VaultFormat

/// PIN items in a copy of the vault, or in a restored one.
extension VaultCore {
  /// The passcode that a PIN item with ``ItemState/needsResync`` asks for once: its attempts may have been set back, and
  /// whoever copies the file would have as many as they want. Nobody is asked in a vault without a passcode.
  ///
  /// The component clears the mark, and logs the notes, in the commit that counts its next attempt.
  ///
  /// - Returns: The notes to log; nil without a passcode, where the component says in one line that the file is a copy.
  /// - Throws: What the verification of the passcode throws. The item stays marked.
  package func settleCopiedPIN(
    _ item: Item, context: AuthenticationContext?
  ) throws(VaultError) -> [AuditNote]? {
    guard hasPasscode else { return nil }
    return try verifyPasscode(for: item, context: context)
  }

  /// Verifies the passcode of the vault, for something that an item needs.
  ///
  /// - Returns: The notes to log.
  /// - Throws: What the verification of the passcode throws.
  package func verifyPasscode(
    for item: Item, context: AuthenticationContext?
  ) throws(VaultError) -> [AuditNote] {
    try verified(.devicePasscode, for: .use, of: item, context: context).verification.notes
  }
}
