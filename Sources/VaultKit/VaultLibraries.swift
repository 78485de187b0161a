import VaultCrypto
import VaultStorage

/// The versions of the libraries that this process has loaded, for diagnosis.
package enum VaultLibraries {
  package static var sqliteVersion: String { Store.sqliteVersion }
  package static var opensslVersion: String { CryptoLibrary.version }
}
