import VaultFormat
import VaultStorage
import Glibc

/// The path of a vault file.
public struct VaultPath: Sendable, Hashable {
  /// The path as given.
  public let path: String

  /// A vault at the given path.
  public init(_ path: String) { self.path = path }

  /// `$VAULT_PATH`, else `$XDG_DATA_HOME/vault/default.vault`, else `$HOME/.local/share/vault/default.vault`.
  ///
  /// - Throws: ``VaultError/Code/vaultMissing`` if none of these variables is set.
  public static func standard() throws(VaultError) -> VaultPath {
    func variable(_ name: String) -> String? {
      guard let text = unsafe getenv(name) else { return nil }
      let value = unsafe String(cString: text)
      return value.isEmpty ? nil : value
    }
    if let path = variable("VAULT_PATH") { return VaultPath(path) }
    if let data = variable("XDG_DATA_HOME"), data.hasPrefix("/") {
      return VaultPath(data + "/vault/default.vault")
    }
    if let home = variable("HOME"), home.hasPrefix("/") {
      return VaultPath(home + "/.local/share/vault/default.vault")
    }
    throw VaultError(.vaultMissing, "there is no place for a vault: HOME is not set", hint: .setVaultPath)
  }
}
