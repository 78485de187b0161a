package import VaultFormat
package import PasswordDerivation
package import SecretMemory
import TextPreparation
import VaultCrypto

/// The two keys derived from a passcode, shared by reference. The Argon2id output is wiped when they are made.
package final class PasscodeKeys: Sendable {
  package let unlock: SecretBytes
  package let prompt: SecretBytes
  package let derivation: KeyDerivation

  /// Runs one derivation: the attempt must be on the disk before.
  ///
  /// - Parameter passcode: One form of it.
  package init(_ passcode: borrowing SecretBytes, by prepared: borrowing PreparedDerivation) {
    derivation = prepared.derivation
    let root = prepared.key(from: passcode)
    unlock = HKDF.derive(from: root, label: Labels.unlock)
    prompt = HKDF.derive(from: root, label: Labels.prompt)
  }

  /// The keys of a new passcode. Runs one derivation.
  package convenience init(
    new passcode: borrowing Passcode, parameters: Argon2id.Parameters? = nil, in environment: VaultEnvironment
  ) throws(VaultError) {
    let derivation = try KeyDerivation.fresh(
      parameters ?? environment.parameters, random: environment.random)
    let prepared = try derivation.prepare(for: .newPasscode, in: environment)
    self.init(passcode.typed.prepared.bytes, by: prepared)
  }
}
