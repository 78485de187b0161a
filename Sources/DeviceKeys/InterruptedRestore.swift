package import VaultFormat

/// What an interrupted restore leaves beside the vault that it replaces. ``RestoreFiles`` says how the names tell a new
/// vault that was never used from the old vault that was replaced. The next restore removes the former, with its device key,
/// and renames the latter to its final name. No other device key is deleted.
package struct InterruptedRestore {
  /// The vault in its place.
  package let path: String
  package let vault: VaultID

  package init(path: String, vault: VaultID) { (self.path, self.vault) = (path, vault) }

  package var files: RestoreFiles { RestoreFiles(path: path) }

  /// One file that an interrupted restore left.
  package enum Leftover: Equatable {
    /// A new vault that was never used, and its device key.
    case unused(String, DeviceKeyID)
    /// The old vault: the new one is in its place.
    case old(String)
    /// Another file, or one whose origin is unknown.
    case foreign(String)
  }

  /// Each file that is there, and what it is.
  package func leftovers() throws(VaultError) -> [Leftover] {
    let present = try? VaultOutline(at: path)
    return try files.unfinished().map { file in
      guard let made = file.key, let outline = try? VaultOutline(at: file.path), outline.vault == vault
      else { return .foreign(file.path) }
      guard outline.deviceKey == made else { return .old(file.path) }
      // A copy of the present vault has the same key too: then the origin of the file is unknown.
      return present == nil || present?.deviceKey == made ? .foreign(file.path) : .unused(file.path, made)
    }
  }
}
