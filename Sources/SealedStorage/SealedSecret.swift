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
  ///
  /// - Throws: ``VaultError/Code/unsupported`` for a policy that this version does not understand,
  ///   ``VaultError/Code/verificationNeeded`` if the data key is wrapped and `keys` does not have it.
  package func dataKey(with keys: ItemKeys) throws(VaultError) -> SecretBytes {
    let content = try content(under: keys.classKey)
    guard try !policy.isWrapped() else {
      guard let dataKey = keys.dataKey else {
        throw VaultError(
          .verificationNeeded, "the item's key is behind a PIN or a session, which was not given",
          hint: "use it through its component")
      }
      return dataKey.bytes.copy()
    }
    guard content.byteCount == 33 else { throw VaultError(crypto: .malformed) }
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

  /// Checks that the data key belongs to this item and this policy, also for a policy that this version does not
  /// understand.
  ///
  /// - Throws: ``VaultError/Code/damaged``.
  package func checkBinding(under classKey: SharedSecret) throws(VaultError) {
    _ = try seal.openKeys(material.keys, under: classKey)
  }

  /// The ways to a data key that is wrapped.
  ///
  /// - Throws: ``VaultError/Code/unsupported`` for a policy that this version does not understand,
  ///   ``VaultError/Code/damaged`` if the ways do not need exactly the further secrets that the policy names.
  package func alternatives(under classKey: SharedSecret) throws(VaultError) -> [Alternative] {
    // These keys are still sealed, so they are public. A data key that is not wrapped is refused unread.
    guard try policy.isWrapped() else { throw VaultError(crypto: .malformed) }
    let content = try content(under: classKey)
    let list = try Alternative.list(
      decoding: content.expose { $0.extracting(1..<$0.byteCount).array })
    let further = try policy.furtherSecrets()
    guard list.allSatisfy({ $0.further == further }) else { throw VaultError(crypto: .malformed) }
    return list
  }

  /// The content of `keys`, in the form that the policy requires: 1 if the data key is wrapped, otherwise 0.
  private func content(under classKey: SharedSecret) throws(VaultError) -> SecretBytes {
    let form: UInt8 = try policy.isWrapped() ? 1 : 0
    let content = try seal.openKeys(material.keys, under: classKey)
    guard content.expose({ $0.byteCount > 0 ? unsafe $0.unsafeLoad(as: UInt8.self) == form : false }) else {
      throw VaultError(crypto: .malformed)
    }
    return content
  }
}
