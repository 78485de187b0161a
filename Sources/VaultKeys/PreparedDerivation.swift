import PasswordDerivation
package import SecretMemory
package import VaultFormat

/// A derivation that cannot fail any more, because it has its memory. One after the other, it serves for each form of a secret.
///
/// An attempt that is counted must get its verdict, so who counts attempts prepares the derivation first: a machine that is short
/// of memory takes no attempt away.
package struct PreparedDerivation: ~Copyable {
  package let derivation: KeyDerivation
  private let prepared: PreparedArgon2id
  private let observer: (@Sendable () -> Void)?

  fileprivate init(
    _ derivation: KeyDerivation, _ prepared: consuming PreparedArgon2id, observer: (@Sendable () -> Void)?
  ) {
    self.derivation = derivation
    self.prepared = prepared
    self.observer = observer
  }

  /// Runs the derivation, which takes tens of milliseconds: never inside a transaction.
  package borrowing func key(from secret: borrowing SecretBytes) -> SecretBytes {
    observer?()
    return prepared.derive(from: secret, salt: derivation.salt)
  }
}

extension KeyDerivation {
  /// Obtains what the derivation needs of the machine.
  ///
  /// - Parameter secret: What the key is made from, for the error.
  /// - Throws: ``VaultError/Code/policy``, ``VaultError/Code/io`` without so much memory.
  package func prepare(
    for secret: SecretName, in environment: VaultEnvironment
  ) throws(VaultError) -> PreparedDerivation {
    do throws(DerivationError) {
      guard environment.hasMemoryForDerivation?() != false else { throw .outOfMemory }
      let prepared = try PreparedArgon2id(parameters, bounds: environment.bounds)
      return PreparedDerivation(self, prepared, observer: environment.derivationObserver)
    } catch .parametersOutOfBounds {
      throw VaultError(
        .policy, "the vault's key derivation parameters are outside of what this program accepts",
        hint: "a vault of a test opens in that test only")
    } catch { throw outOfMemory(for: secret) }
  }

  /// Prepares and runs one derivation, where no attempt is counted.
  package func derive(
    from secret: borrowing SecretBytes, as name: SecretName, in environment: VaultEnvironment
  ) throws(VaultError) -> SecretBytes {
    try prepare(for: name, in: environment).key(from: secret)
  }

  private func outOfMemory(for secret: SecretName) -> VaultError {
    let size = "\((parameters.memoryKiB + 1023) >> 10) MiB"
    let advice = "free memory, or raise the limit of the process, and try again"
    return VaultError(
      .io, "not enough memory: the key of the \(secret.rawValue) is made in \(size)",
      hint: secret.isJudged ? "no attempt was counted; \(advice)" : advice)
  }
}

extension SecretName {
  /// Whether it is compared with one that was set before.
  fileprivate var isJudged: Bool { [.passcode, .applicationPassword, .phrase, .pin].contains(self) }
}
