import VaultCrypto
import VaultStorage

/// The libraries that this process has loaded.
package enum VaultLibraries {
  package static var sqliteVersion: String { Store.sqliteVersion }
  package static var opensslVersion: String { CryptoLibrary.version }

  /// For a program that starts for one command: OpenSSL loads no texts of errors, which nothing of this package shows.
  package static func leaveOutErrorTexts() { CryptoLibrary.leaveOutErrorTexts() }
}
