package import VaultFormat
package import SecretMemory
import VaultCrypto

/// The two keys derived from a passcode, shared by reference. The Argon2id output is wiped when they are made.
package final class PasscodeKeys: Sendable {
  package let unlock: SecretBytes
  package let prompt: SecretBytes
  package let derivation: KeyDerivation

  package init(_ passcode: borrowing Passcode, derivation: KeyDerivation, environment: VaultEnvironment)
    throws(VaultError)
  {
    let root = try derivation.derive(from: passcode.bytes, environment)
    unlock = HKDF.derive(from: root, label: Labels.unlock)
    prompt = HKDF.derive(from: root, label: Labels.prompt)
    self.derivation = derivation
  }
}
