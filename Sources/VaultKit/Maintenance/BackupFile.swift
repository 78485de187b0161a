import DeviceKeys
import SealedStorage
import VaultFormat
import VaultStorage

/// A backup that was read: once, from any file or pipe, into a file of this process that has no name.
///
/// A backup is sealed by its passphrase and may be kept anywhere, so nothing is asked of the place that it comes from. What is
/// opened later is what was read here.
package final class BackupFile: Sendable {
  /// As it was named.
  package let path: String
  private let copy: CopiedFile

  /// - Parameters:
  ///   - path: A file, a link or a pipe.
  ///   - target: The vault that is restored from it: the copy is in its directory.
  /// - Throws: ``VaultError/Code/vaultMissing``, ``VaultError/Code/damaged`` for what is no vault file, ``VaultError/Code/io``.
  package init(reading path: String, beside target: String) throws(VaultError) {
    self.path = path
    do throws(StorageError) { copy = try CopiedFile(of: path, in: VaultNames.folder(of: target)) } catch {
      throw VaultError(error, backupAt: path)
    }
  }

  /// - Parameters:
  ///   - descriptor: Is read to its end, and stays open.
  ///   - path: What errors call it.
  /// - Throws: As ``init(reading:beside:)``.
  package init(reading descriptor: Int32, named path: String, beside target: String) throws(VaultError) {
    self.path = path
    do throws(StorageError) {
      copy = try CopiedFile(of: descriptor, in: VaultNames.folder(of: target))
    } catch { throw VaultError(error, backupAt: path) }
  }

  func rows() throws(VaultError) -> VaultRows { try VaultRows.open(backup: copy, named: path) }

  /// What it shows without its passphrase.
  func outline() throws(VaultError) -> VaultOutline {
    var rows = try rows()
    return VaultOutline(try Header(decoding: try rows.header().body))
  }
}
