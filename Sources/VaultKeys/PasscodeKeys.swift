package import VaultFormat
package import SecretMemory
import VaultCrypto

/// The two keys a passcode becomes, shared by reference. The Argon2id output itself is wiped when these are made.
package final class PasscodeKeys: Sendable {
  package let unlock: SecretBytes
  package let prompt: SecretBytes
  package let derivation: KeyDerivation

  package init(_ passcode: borrowing Passcode, _ derivation: KeyDerivation, _ environment: VaultEnvironment)
    throws(VaultError)
  {
    let root = try derivation.derive(from: passcode.bytes, environment)
    unlock = HKDF.derive(from: root, label: Labels.unlock)
    prompt = HKDF.derive(from: root, label: Labels.prompt)
    self.derivation = derivation
  }
}
