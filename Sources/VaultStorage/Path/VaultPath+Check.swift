import Glibc

extension VaultPath {
  /// Refuses a directory in which another user could replace the vault, or whose locks do not work.
  func checkFolder() throws(StorageError) {
    guard let about = try status(of: ".") else { throw .missing }
    guard about.owner == geteuid() || about.owner == 0 else { throw .refused(.folderForeignOwner) }
    guard about.permissions & 0o022 == 0 || about.isSticky else {
      throw .refused(.folderWritableByOthers(mode: about.permissions))
    }
    if let name = try NetworkFileSystem.name(of: folder, device: about.device) {
      throw .refused(.networkFileSystem(name))
    }
  }

  /// Refuses a vault that is not a plain file of this user alone. The same holds for the files beside it.
  func checkFile() throws(StorageError) -> FileStatus {
    guard let about = try statusOfFile() else { throw .missing }
    try Self.check(about)
    guard about.linkCount == 1 else { throw .refused(.severalNames) }
    guard about.byteCount > 0 else { throw .damaged(.empty) }
    for suffix in SideFileName.companions {
      guard let companion = try status(of: name + suffix) else { continue }
      do throws(StorageError) {
        try Self.check(companion)
        guard companion.linkCount <= 1 else { throw .refused(.severalNames) }
        // SQLite would remove it, or write over it. What this process has open itself was looked at then.
        if companion.byteCount > 0, !OpenVaultFiles.contain(path: full) {
          guard try hasContent(of: suffix, name + suffix) else { throw .refused(.notOfSQLite) }
        }
      } catch {
        guard case .refused(let refusal) = error else { throw error }
        throw .refusedBeside(refusal, path: path(of: name + suffix))
      }
    }
    return about
  }

  /// The status of the file. While a vault is renamed to another name, it has two names for an instant.
  private func statusOfFile() throws(StorageError) -> FileStatus? {
    for _ in 0..<50 {
      guard let about = try status(of: name), about.isRegularFile, about.linkCount > 1 else { break }
      guard let fresh = FileStatus.fresh(name, in: folder), fresh.linkCount > 1 else { break }
      usleep(2_000)
    }
    return try freshStatus(of: name)
  }

  private static func check(_ about: FileStatus) throws(StorageError) {
    guard !about.isSymbolicLink else { throw .refused(.symbolicLink) }
    guard about.isRegularFile else { throw .refused(.notARegularFile) }
    guard about.owner == geteuid() else { throw .refused(.foreignOwner) }
    guard about.permissions & 0o077 == 0 else { throw .refused(.openToOthers(mode: about.permissions)) }
  }
}
