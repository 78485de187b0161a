import PasswordDerivation
package import SecretMemory
import VaultCrypto
package import VaultFormat

extension KeyDerivation {
  /// Runs one derivation, which takes tens of milliseconds: never inside a transaction.
  package func derive(from secret: borrowing SecretBytes, _ environment: VaultEnvironment) throws(VaultError)
    -> SecretBytes
  {
    environment.derivationObserver?()
    do throws(DerivationError) {
      return try Argon2id.derive(
        from: secret, salt: salt, parameters: parameters, bounds: environment.bounds)
    } catch .parametersOutOfBounds {
      throw VaultError(
        .policy, "the vault's key derivation parameters are outside of what this program accepts",
        hint: "a vault of a test opens in that test only")
    } catch { throw VaultError(crypto: .outOfMemory) }
  }
}
