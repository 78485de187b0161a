import PasswordDerivation
import SecretMemory
import VaultCrypto

/// Key derivation and signatures.
enum KeyWorkloads {
  /// Argon2id with these costs. Its work memory uses large pages if the kernel provides them.
  static func argon2id(memoryKiB: UInt32, iterations: UInt32, parallelism: UInt32) -> Workload {
    let passcode = Box(SecretBytes(copying: Array("correct horse".utf8)))
    let salt = [UInt8](repeating: 0, count: 16)
    let parameters = Argon2id.Parameters(
      memoryKiB: memoryKiB, iterations: iterations, parallelism: parallelism)
    return Workload("Argon2id") {
      _ = try Argon2id.derive(from: passcode.value, salt: salt, parameters: parameters)
    }
  }

  /// HKDF-SHA256 of one 32-byte key.
  static func hkdf() -> Workload {
    let key = Box(SealWorkloads.key())
    let label = Label("vault/1/meta")
    return Workload("HKDF-SHA256, 32 bytes") { _ = HKDF.derive(from: key.value, label: label) }
  }

  /// A P-256 signature (DER) of 32 bytes with a key that is opened once.
  static func signP256() -> Workload { sign(.p256, .ecdsaDER, "P-256") }

  /// An Ed25519 signature of 32 bytes with a key that is opened once.
  static func signEd25519() -> Workload { sign(.ed25519, .ed25519, "Ed25519") }

  private static func sign(_ type: SigningKeyType, _ scheme: SignatureScheme, _ name: String) -> Workload {
    let key = Box(must { try SigningKey.generate(type, random: SystemRandom()) })
    let message = [UInt8](repeating: 3, count: 32)
    return Workload("\(name) sign") { _ = try key.value.sign(message, as: scheme) }
  }
}
