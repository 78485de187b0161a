import VaultCrypto
import VaultStorage

/// The libraries under the vault as they are loaded now, for people who look for a fault.
package enum VaultLibraries {
  package static var sqliteVersion: String { Store.sqliteVersion }
  package static var opensslVersion: String { CryptoLibrary.version }
}
