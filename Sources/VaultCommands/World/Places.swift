import VaultKit

/// Where the vault and its device key are, by option, variable or standard.
struct Places {
  let invocation: Invocation
  let environment: Environment

  /// `--vault`, else `$VAULT_PATH`, else `$XDG_DATA_HOME/vault/default.vault`.
  var vault: String {
    get throws(CommandError) {
      if let path = invocation.text("vault") { return path }
      if let path = environment["VAULT_PATH"], !path.isEmpty { return path }
      // Relative values are ignored, as the XDG base directory specification asks.
      if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") { return data + "/vault/default.vault" }
      guard let home = environment["HOME"], home.hasPrefix("/") else {
        throw .usage(
          "neither --vault nor $VAULT_PATH nor $HOME says where the vault is", hint: "give --vault PATH")
      }
      return home + "/.local/share/vault/default.vault"
    }
  }

  /// `--device-key`, else `$VAULT_DEVICE_KEY`; nil for the standard place.
  var deviceKey: String? {
    if let path = invocation.text("device-key") { return path }
    guard let path = environment["VAULT_DEVICE_KEY"], !path.isEmpty else { return nil }
    return path
  }

  /// The protector of a new vault.
  func newProtector() throws(VaultError) -> FileProtector {
    if let deviceKey { return FileProtector(file: deviceKey) }
    return try FileProtector.standard()
  }

  /// Where the device key of a vault is kept, for people.
  func keyPath(of outline: VaultOutline) -> String? {
    guard outline.protector == .file, let protector = try? newProtector() else { return nil }
    return protector.path(of: outline.deviceKey, outline.vault)
  }
}
