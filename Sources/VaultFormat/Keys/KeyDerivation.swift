package import PasswordDerivation
package import VaultCrypto

/// How a typed secret becomes a key: Argon2id with its parameters and salt, as stored (section 5, "KDF record").
package struct KeyDerivation: Sendable, Equatable {
  private typealias Number = FieldNumber.Derivation

  package let parameters: Argon2id.Parameters
  package let salt: [UInt8]
  /// The record as stored, including fields unknown to this version. Seals are bound to these bytes.
  package let encoded: [UInt8]

  package static func fresh(_ parameters: Argon2id.Parameters, random: any RandomSource) throws(VaultError)
    -> Self
  {
    KeyDerivation(parameters: parameters, salt: try random.newBytes(16))
  }

  package init(parameters: Argon2id.Parameters, salt: [UInt8]) {
    self.parameters = parameters
    self.salt = salt
    encoded = Self.record(parameters, salt: salt)
  }

  package init(decoding bytes: [UInt8]) throws(VaultError) {
    let fields = try FieldReader(bytes, or: Self.unreadable)
    let (algorithm, version) = try (fields.u8(Number.algorithm), fields.u32(Number.version))
    parameters = Argon2id.Parameters(
      memoryKiB: try fields.u32(Number.memory), iterations: try fields.u32(Number.passes),
      parallelism: try fields.u32(Number.lanes))
    salt = try fields.bytes(Number.salt, count: 16)
    encoded = bytes
    guard algorithm == 1, version == 0x13 else {
      throw VaultError(
        .unsupported, "a key of the vault is derived in a way that this version does not know",
        hint: "update this program")
    }
  }

  private static var unreadable: VaultError {
    VaultError(.damaged, "the vault's key derivation parameters are not readable")
  }

  private static func record(_ parameters: Argon2id.Parameters, salt: [UInt8]) -> [UInt8] {
    var record = Record()
    record.set(Number.algorithm, u8: 1)
    record.set(Number.version, u32: 0x13)
    record.set(Number.memory, u32: parameters.memoryKiB)
    record.set(Number.passes, u32: parameters.iterations)
    record.set(Number.lanes, u32: parameters.parallelism)
    record[Number.salt] = salt
    return record.encoded
  }
}
