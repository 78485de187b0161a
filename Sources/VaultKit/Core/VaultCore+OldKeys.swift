import VaultStorage

/// Device keys that a protector still keeps although no vault is known to need them: what a restore, a failed rotation
/// or a killed process has left.
extension VaultCore {
  /// The keys of this vault in `protector`, without the one that opens it.
  package func oldKeys(in protector: any Protector) throws(VaultError) -> [DeviceKeyID] {
    let status = try status()
    return try protector.keys(of: status.vault).filter { $0 != status.deviceKey }
  }

  /// Removes them, after the vault was opened once more with the present key.
  ///
  /// - Parameters:
  ///   - protector: Where to remove them.
  ///   - others: Vault files beside this one that may need their keys still, such as the one before a restore.
  /// - Returns: The keys that are gone. What does not hold the key that it says it does stays.
  package func removeOldKeys(in protector: any Protector, besides others: [String]) throws(VaultError)
    -> [DeviceKeyID]
  {
    let (vault, path) = try reading { transaction throws(VaultError) in
      (transaction.session.vault, transaction.session.store.path)
    }
    // A key that is on its way into a vault lies there under this lock before any vault names it.
    guard let lock = try protector.lock(vault) else {
      throw VaultError(.policy, "this protector cannot tell old keys from one that is just being made")
    }
    defer { lock.keep() }
    let proof = try VaultCore.open(at: path, protector: currentProtector, environment: environment)
    var needed: [DeviceKeyID] = []
    for other in others {
      let outline = try VaultCore.outline(at: other)
      if outline.vault == vault { needed.append(outline.deviceKey) }
    }
    let old = try proof.oldKeys(in: protector).filter { !needed.contains($0) }
    for key in old { try protector.deleteKey(key, of: vault) }
    let left = try protector.keys(of: vault)
    return old.filter { !left.contains($0) }
  }
}
