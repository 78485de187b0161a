package import VaultFormat
package import PasswordDerivation
package import SecretMemory
import VaultCrypto

/// The two keys derived from a passcode, shared by reference. The Argon2id output is wiped when they are made.
package final class PasscodeKeys: Sendable {
  package let unlock: SecretBytes
  package let prompt: SecretBytes
  package let derivation: KeyDerivation

  /// Runs one derivation: the attempt must be on the disk before.
  package init(_ passcode: borrowing Passcode, by prepared: consuming PreparedDerivation) {
    derivation = prepared.derivation
    let root = prepared.key(from: passcode.bytes)
    unlock = HKDF.derive(from: root, label: Labels.unlock)
    prompt = HKDF.derive(from: root, label: Labels.prompt)
  }

  /// The keys of a new passcode. Runs one derivation.
  package convenience init(
    new passcode: borrowing Passcode, parameters: Argon2id.Parameters? = nil, in environment: VaultEnvironment
  ) throws(VaultError) {
    let derivation = try KeyDerivation.fresh(
      parameters ?? environment.parameters, random: environment.random)
    self.init(passcode, by: try derivation.prepare(for: .newPasscode, in: environment))
  }
}
