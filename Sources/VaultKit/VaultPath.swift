import VaultFormat
import VaultStorage
import Glibc

/// The path of a vault file.
public struct VaultPath: Sendable, Hashable {
  /// The path as given.
  public let path: String

  /// A vault at the given path.
  public init(_ path: String) { self.path = path }

  /// `$VAULTCTL_PATH`, else `$XDG_DATA_HOME/vaultctl/default.vault`, else `$HOME/.local/share/vaultctl/default.vault`.
  ///
  /// - Throws: ``VaultError/Code/vaultMissing`` if none of these variables is set, or if the vault is still in the directory that was
  ///   called `vault` before the first release; ``VaultError/Code/unsupported`` if `$VAULT_PATH` is set, the former name.
  public static func standard() throws(VaultError) -> VaultPath {
    func variable(_ name: String) -> String? {
      guard let text = unsafe getenv(name) else { return nil }
      let value = unsafe String(cString: text)
      return value.isEmpty ? nil : value
    }
    if variable(FormerVariable.path.name) != nil {
      throw VaultError(.unsupported, FormerVariable.path.refusal)
    }
    if let path = variable(FormerVariable.path.present) { return VaultPath(path) }
    if let path = try unnamed(variable) { return path }
    throw VaultError(.vaultMissing, "there is no place for a vault: HOME is not set", hint: .setVaultPath)
  }

  /// The place of a vault that nothing names.
  ///
  /// - Parameter variable: Looks up an environment variable.
  /// - Returns: nil if no variable says where that is.
  /// - Throws: ``VaultError/Code/vaultMissing`` if the vault is still in the directory of the former name.
  package static func unnamed(_ variable: (String) -> String?) throws(VaultError) -> VaultPath? {
    guard let directory = StandardDirectory(below: "XDG_DATA_HOME", else: ".local/share", variable) else {
      return nil
    }
    return try unnamed(in: directory)
  }

  /// - Parameter directory: The directory of vaults of this user, or of the keeper.
  package static func unnamed(in directory: StandardDirectory) throws(VaultError) -> VaultPath {
    try directory.refuseFormer("default.vault", "the vault", code: .vaultMissing)
    return VaultPath(directory.path + "/default.vault")
  }
}
