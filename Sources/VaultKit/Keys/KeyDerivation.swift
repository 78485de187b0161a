import PasswordDerivation
public import SecretMemory
import VaultCrypto
import VaultStorage

/// How a typed secret becomes a key: Argon2id with its parameters and salt, as stored (section 5, "KDF record").
struct KeyDerivation: Sendable, Equatable {
  let parameters: Argon2id.Parameters
  let salt: [UInt8]
  /// The record as stored, with fields unknown to this version: what seals are bound to.
  let encoded: [UInt8]

  static func fresh(_ parameters: Argon2id.Parameters, random: any RandomSource) throws(VaultError) -> Self {
    KeyDerivation(parameters: parameters, salt: try crypto { () throws(CryptoError) in try random.bytes(16) })
  }

  init(parameters: Argon2id.Parameters, salt: [UInt8]) {
    self.parameters = parameters
    self.salt = salt
    encoded = Self.record(parameters, salt)
  }

  init(decoding bytes: [UInt8]) throws(VaultError) {
    guard let record = try? Record(decoding: bytes), let algorithm = try? record.u8(1),
      let version = try? record.u32(2), let memory = try? record.u32(3), let passes = try? record.u32(4),
      let lanes = try? record.u32(5), let salt = try? record.bytes(6, count: 16)
    else { throw VaultError(.damaged, "the vault's key derivation parameters are not readable") }
    guard algorithm == 1, version == 0x13 else {
      throw VaultError(
        .unsupported, "a key of the vault is derived in a way that this version does not know",
        hint: "update this program")
    }
    parameters = Argon2id.Parameters(memoryKiB: memory, iterations: passes, parallelism: lanes)
    self.salt = salt
    encoded = bytes
  }

  private static func record(_ parameters: Argon2id.Parameters, _ salt: [UInt8]) -> [UInt8] {
    var record = Record()
    record.set(1, u8: 1)
    record.set(2, u32: 0x13)
    record.set(3, u32: parameters.memoryKiB)
    record.set(4, u32: parameters.iterations)
    record.set(5, u32: parameters.parallelism)
    record[6] = salt
    return record.encoded
  }

  /// One derivation, tens of milliseconds: never inside a transaction.
  func derive(from secret: borrowing SecretBytes, _ environment: VaultEnvironment) throws(VaultError)
    -> SecretBytes
  {
    environment.derivationObserver?()
    do throws(DerivationError) {
      return try Argon2id.derive(
        from: secret, salt: salt, parameters: parameters, bounds: environment.bounds)
    } catch .parametersOutOfBounds {
      throw VaultError(
        .policy, "the vault's key derivation parameters are outside of what this program accepts",
        hint: "a vault made by a test tool opens with that tool only")
    } catch { throw VaultError(crypto: .outOfMemory) }
  }
}

/// The two keys a passcode becomes, shared by reference. The Argon2id output itself is wiped when these are made.
final class PasscodeKeys: Sendable {
  let unlock: SecretBytes
  let prompt: SecretBytes
  let derivation: KeyDerivation

  init(_ passcode: borrowing Passcode, _ derivation: KeyDerivation, _ environment: VaultEnvironment)
    throws(VaultError)
  {
    let root = try derivation.derive(from: passcode.bytes, environment)
    unlock = HKDF.derive(from: root, label: Labels.unlock)
    prompt = HKDF.derive(from: root, label: Labels.prompt)
    self.derivation = derivation
  }
}

/// What a person types to unlock the vault: 1–1,024 bytes without NUL, taken as they are.
public struct Passcode: ~Copyable, Sendable {
  let bytes: SecretBytes
  let shown: Shown

  /// - Throws: ``VaultError/Code/malformed`` for an empty one, a NUL, or more than 1,024 bytes.
  public init(_ bytes: consuming SecretBytes) throws(VaultError) { try self.init(bytes, shown: .given) }

  /// One of which it is known how it was shown.
  package init(_ bytes: consuming SecretBytes, shown: Shown) throws(VaultError) {
    guard bytes.isTypable else { throw VaultError(.malformed, "a passcode is 1 to 1,024 bytes without NUL") }
    self.bytes = bytes
    self.shown = shown
  }
}
