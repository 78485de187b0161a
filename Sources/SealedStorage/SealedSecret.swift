package import VaultFormat
package import SecretMemory
import VaultCrypto
package import VaultStorage

/// An item's secret as the file holds it, with everything that binds it to its item. Opening it needs no transaction.
package struct SealedSecret: Sendable {
  private let vault: VaultID
  private let row: ItemRow
  private let policy: Policy
  private let material: MaterialRow

  /// - Throws: ``VaultError/Code/damaged`` without material: a row that says it has a secret must have one.
  package init(_ vault: VaultID, _ row: ItemRow, _ policy: Policy, _ material: MaterialRow?)
    throws(VaultError)
  {
    guard let material else {
      throw VaultError(.damaged, "an item's secret is missing", hint: "restore the vault from a backup")
    }
    self.vault = vault
    self.row = row
    self.policy = policy
    self.material = material
  }

  private var seal: MaterialSeal { MaterialSeal(of: row, in: vault, policyHash: policy.hash) }

  /// The secret.
  package func open(with keys: ItemKeys) throws(VaultError) -> SecretBytes {
    try open(under: dataKey(with: keys))
  }

  /// The secret.
  package func open(under dataKey: borrowing SecretBytes) throws(VaultError) -> SecretBytes {
    try seal.openSecret(material.secret, under: dataKey)
  }

  /// The data key. If it opens, class and policy are proven to the holder of the class key.
  package func dataKey(with keys: ItemKeys) throws(VaultError) -> SecretBytes {
    let content = try content(under: keys.classKey)
    let form = content.expose { $0.byteCount > 0 ? unsafe $0.unsafeLoad(as: UInt8.self) : 0xFF }
    if let dataKey = keys.dataKey {
      guard form == 1 else { throw VaultError(crypto: .malformed) }
      return dataKey.bytes.copy()
    }
    guard form != 1 else { throw Self.unsupported }
    guard form == 0, content.byteCount == 33 else { throw VaultError(crypto: .malformed) }
    return content.expose { SecretBytes(copying: $0.extracting(1..<33)) }
  }

  /// Checks the form of both seals without opening them.
  ///
  /// - Throws: ``VaultError/Code/newerFormat`` for a seal that this version does not know, ``VaultError/Code/damaged``
  ///   for one that is too short.
  package func checkSeals() throws(VaultError) {
    try MaterialSeal.check(material.keys)
    try MaterialSeal.check(material.secret)
  }

  /// The ways to the data key of an item with constraints.
  package func alternatives(under classKey: SharedSecret) throws(VaultError) -> [Alternative] {
    guard Constraints.supported.isSuperset(of: policy.access.constraints) else { throw Self.unsupported }
    // This content is still sealed, so it is public, except for a data key without constraint, which is refused unread.
    let content = try content(under: classKey)
    let form = content.expose { $0.byteCount > 0 ? unsafe $0.unsafeLoad(as: UInt8.self) : 0xFF }
    guard form == 1 else { throw VaultError(crypto: .malformed) }
    let list = try Alternative.list(
      decoding: content.expose { $0.extracting(1..<$0.byteCount).array })
    let hasPassword = policy.access.constraints.contains(.applicationPassword)
    guard list.allSatisfy({ ($0.password != nil) == hasPassword }) else {
      throw VaultError(crypto: .malformed)
    }
    return list
  }

  private func content(under classKey: SharedSecret) throws(VaultError) -> SecretBytes {
    try seal.openKeys(material.keys, under: classKey)
  }

  private static var unsupported: VaultError {
    VaultError(
      .unsupported, "the secret stands behind something that this version does not ask for",
      hint: .useNewerVersion)
  }
}
