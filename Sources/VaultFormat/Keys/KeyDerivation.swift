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
    guard let record = try? Record(decoding: bytes), let algorithm = try? record.u8(Number.algorithm),
      let version = try? record.u32(Number.version), let memory = try? record.u32(Number.memory),
      let passes = try? record.u32(Number.passes),
      let lanes = try? record.u32(Number.lanes), let salt = try? record.bytes(Number.salt, count: 16)
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
