package import SecretMemory
package import VaultCrypto
package import VaultFormat
package import VaultStorage

/// The two seals of an item's material (section 10): its data key under a class key, and its secret under the data key.
/// Both are bound to the item and to its policy.
package struct MaterialSeal {
  private let vault: VaultID
  private let row: ItemRow
  private let policyHash: [UInt8]

  package init(of row: ItemRow, in vault: VaultID, policyHash: [UInt8]) {
    self.vault = vault
    self.row = row
    self.policyHash = policyHash
  }

  /// - Parameter content: A form byte, followed by the data key or the ways to the data key.
  package func sealKeys(
    _ content: borrowing SecretBytes, under classKey: SharedSecret, random: any RandomSource
  ) throws(VaultError) -> [UInt8] {
    let aad = AssociatedData.keys(vault, row, policyHash: policyHash)
    do throws(CryptoError) {
      return try CommittingSeal.seal(
        content, under: classKey.bytes, label: Labels.sealKeys, aad: aad, random: random)
    } catch { throw VaultError(crypto: error) }
  }

  package func openKeys(_ sealed: [UInt8], under classKey: SharedSecret) throws(VaultError) -> SecretBytes {
    let aad = AssociatedData.keys(vault, row, policyHash: policyHash)
    do throws(CryptoError) {
      return try CommittingSeal.open(sealed, under: classKey.bytes, label: Labels.sealKeys, aad: aad)
    } catch { throw VaultError(crypto: error) }
  }

  package func sealSecret(
    _ secret: borrowing SecretBytes, under dataKey: borrowing SecretBytes, random: any RandomSource
  ) throws(VaultError) -> [UInt8] {
    let aad = AssociatedData.secret(vault, row, policyHash: policyHash)
    do throws(CryptoError) {
      return try CommittingSeal.seal(
        secret, under: dataKey, label: Labels.sealSecret, aad: aad, random: random)
    } catch { throw VaultError(crypto: error) }
  }

  package func openSecret(
    _ sealed: [UInt8], under dataKey: borrowing SecretBytes
  ) throws(VaultError) -> SecretBytes {
    let aad = AssociatedData.secret(vault, row, policyHash: policyHash)
    do throws(CryptoError) {
      return try CommittingSeal.open(sealed, under: dataKey, label: Labels.sealSecret, aad: aad)
    } catch { throw VaultError(crypto: error) }
  }

  /// Checks the form of a seal without opening it.
  ///
  /// - Throws: ``VaultError/Code/newerFormat`` for a seal that this version does not know, ``VaultError/Code/damaged``
  ///   for one that is too short.
  package static func check(_ sealed: [UInt8]) throws(VaultError) {
    do throws(CryptoError) { try CommittingSeal.check(sealed) } catch { throw VaultError(crypto: error) }
  }
}
