import VaultStorage

/// Descriptors that may lead to a vault which this process has open. Closing one ends the locks of the whole process on the vault, and
/// another program then takes it for unused: a commit can be lost.
extension VaultNames {
  /// Whether the descriptor leads to a vault that is open in this process, or to a file that SQLite keeps beside it.
  package static func isOpenVault(_ descriptor: Int32) -> Bool { OpenVaultFiles.contain(descriptor) }

  /// The same for a path, which is not opened.
  package static func isOpenVault(path: String) -> Bool { OpenVaultFiles.contain(path: path) }

  /// Closes a descriptor of a file that an option or a caller named: at once, or, if it leads to an open vault, when the vault is closed.
  ///
  /// - Returns: The file of the vault that keeps it open, and how many descriptors that vault keeps by now; nil if it is closed.
  @discardableResult
  package static func close(_ descriptor: Int32) -> (device: UInt64, inode: UInt64, count: Int)? {
    OpenVaultFiles.close(descriptor).map { ($0.vault.device, $0.vault.inode, $0.count) }
  }
}
