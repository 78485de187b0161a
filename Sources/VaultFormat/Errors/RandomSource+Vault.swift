package import SecretMemory
package import VaultCrypto

/// Random bytes and key pairs, with the errors of a vault.
extension RandomSource {
  /// - Throws: ``VaultError/Code/io`` when the random generator fails.
  package func newBytes(_ byteCount: Int) throws(VaultError) -> [UInt8] {
    do throws(CryptoError) { return try bytes(byteCount) } catch { throw VaultError(crypto: error) }
  }

  /// - Throws: As ``newBytes(_:)``.
  package func newSecret(_ byteCount: Int) throws(VaultError) -> SecretBytes {
    do throws(CryptoError) { return try secret(byteCount) } catch { throw VaultError(crypto: error) }
  }

  /// - Throws: As ``newBytes(_:)``.
  package func newKeyPair() throws(VaultError) -> X25519KeyPair {
    do throws(CryptoError) { return try X25519KeyPair.generate(random: self) } catch {
      throw VaultError(crypto: error)
    }
  }
}
