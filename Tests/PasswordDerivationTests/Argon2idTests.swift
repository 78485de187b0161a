import Foundation
import PasswordDerivation
import SecretMemory
import TestSupport
import Testing

@Suite("Argon2id", .bounded)
struct Argon2idTests {
  private let salt = [UInt8](repeating: 2, count: 16)

  @Test("parameters outside of the bounds are refused before any work is done")
  func bounds() {
    let refused: [Argon2id.Parameters] = [
      .init(memoryKiB: 19 << 10 - 1, iterations: 2, parallelism: 1),
      .init(memoryKiB: 19 << 10, iterations: 1, parallelism: 1),
      .init(memoryKiB: 19 << 10, iterations: 2, parallelism: 0),
      .init(memoryKiB: 1 << 20 + 1, iterations: 3, parallelism: 4),
      .init(memoryKiB: 64 << 10, iterations: 17, parallelism: 4),
      .init(memoryKiB: 64 << 10, iterations: 3, parallelism: 65),
      .init(memoryKiB: .max, iterations: .max, parallelism: .max),
      .init(memoryKiB: 0, iterations: 0, parallelism: 0),
    ]
    for parameters in refused {
      #expect(throws: DerivationError.parametersOutOfBounds) {
        _ = try Argon2id.derive(from: secret([1]), salt: salt, parameters: parameters)
      }
    }
    #expect(Argon2id.Bounds.standard.allow(.standard))
    #expect(Argon2id.Bounds.standard.allow(Argon2id.Bounds.standard.floor))
    #expect(Argon2id.Bounds.standard.allow(Argon2id.Bounds.standard.ceiling))
  }

  @Test("salts and lengths outside their bounds are refused")
  func lengths() {
    for (salt, byteCount) in [(7, 32), (65, 32), (0, 32), (16, 3), (16, 1025), (16, 0)] {
      #expect(throws: DerivationError.parametersOutOfBounds) {
        _ = try Argon2id.derive(
          from: secret([1]), salt: [UInt8](repeating: 1, count: salt), parameters: .standard,
          byteCount: byteCount)
      }
    }
  }

  @Test("a derivation leaves the passcode as it is, and another passcode gives another key")
  func passcodeIsLent() throws {
    let floor = Argon2id.Bounds.standard.floor
    let passcode = secret("correct horse".utf8)
    let key = try bytes(of: Argon2id.derive(from: passcode, salt: salt, parameters: floor))
    expect(bytes(of: passcode), equals: Array("correct horse".utf8))
    try expect(bytes(of: Argon2id.derive(from: passcode, salt: salt, parameters: floor)), equals: key)
    let other = secret("correct horsf".utf8)
    #expect(try bytes(of: Argon2id.derive(from: other, salt: salt, parameters: floor)) != key)
    #expect(Argon2Memory.wasLocked != nil)
    print("Argon2id work memory locked: \(Argon2Memory.wasLocked == true)")
  }

  @Test("Argon2id gives the keys of RFC 9106 and of the reference program")
  func vectors() throws {
    let anything = Argon2id.Bounds(
      floor: .init(memoryKiB: 8, iterations: 1, parallelism: 1),
      ceiling: .init(memoryKiB: 1 << 21, iterations: 64, parallelism: 64))
    let cases = try Argon2Vector.all()
    for test in cases {
      let key = try Argon2id.derive(
        from: secret(test.passcode), salt: test.salt, parameters: test.parameters, bounds: anything,
        byteCount: test.key.count, secret: test.secret, aad: test.associatedData)
      expect(bytes(of: key), equals: test.key)
    }
    print("vectors: Argon2id: \(cases.count) of \(cases.count) applied")
    #expect(!cases.isEmpty)
  }
}

private func secret(_ bytes: some Sequence<UInt8>) -> SecretBytes { SecretBytes(copying: Array(bytes)) }

private func bytes(of secret: borrowing SecretBytes) -> [UInt8] {
  secret.expose { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
}
