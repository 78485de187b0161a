extension Command {
  /// `--vault`, else `$VAULT_PATH`, else the standard place.
  var vaultPath: String {
    get throws(CommandError) {
      if let path = invocation.text("vault") { return path }
      if let path = world.environment["VAULT_PATH"], !path.isEmpty { return path }
      return try folder("XDG_DATA_HOME", under: ".local/share") + "/vault/default.vault"
    }
  }

  /// `--device-key`, else `$VAULT_DEVICE_KEY`; nil for the standard place.
  var deviceKeyPath: String? {
    if let path = invocation.text("device-key") { return path }
    guard let path = world.environment["VAULT_DEVICE_KEY"], !path.isEmpty else { return nil }
    return path
  }

  /// A folder of the XDG base directories: relative values are ignored, as that specification asks.
  private func folder(_ variable: String, under home: String) throws(CommandError) -> String {
    if let path = world.environment[variable], path.hasPrefix("/") { return path }
    guard let base = world.environment["HOME"], base.hasPrefix("/") else {
      throw .usage(
        "neither --vault nor $VAULT_PATH nor $HOME says where the vault is", hint: "give --vault PATH")
    }
    return base + "/" + home
  }
}
