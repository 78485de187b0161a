import Synchronization
import VaultCrypto
import VaultStorage

/// The libraries that this process has loaded.
package enum VaultLibraries {
  package static var sqliteVersion: String { Store.sqliteVersion }
  package static var opensslVersion: String { CryptoLibrary.version }

  /// For a program that starts for one command: OpenSSL loads no texts of errors, which nothing of this package shows.
  package static func leaveOutErrorTexts() { CryptoLibrary.leaveOutErrorTexts() }

  /// For a program that has one vault open at a time, and no other database: SQLite rewrites a large file through a file without a
  /// name in the vault's directory, in place of memory. It is a setting of the whole process, which other users of SQLite in it
  /// could read while it changes.
  package static func rewriteThroughFiles() { Store.rewritesThroughFiles.store(true, ordering: .relaxed) }
}
