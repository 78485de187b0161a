import SecretMemory
import Testing
import VaultCrypto

@Suite("Argon2id")
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
      expectError(.parametersOutOfBounds) { () throws(CryptoError) in
        try Argon2id.derive(from: SecretBytes([1]), salt: salt, parameters: parameters)
      }
    }
    #expect(Argon2id.Bounds.standard.allow(.standard))
    #expect(Argon2id.Bounds.standard.allow(Argon2id.Bounds.standard.floor))
    #expect(Argon2id.Bounds.standard.allow(Argon2id.Bounds.standard.ceiling))
  }

  @Test("salts and lengths outside of theirs are refused")
  func lengths() {
    for (salt, byteCount) in [(7, 32), (65, 32), (0, 32), (16, 3), (16, 1025), (16, 0)] {
      expectError(.parametersOutOfBounds) { () throws(CryptoError) in
        try Argon2id.derive(
          from: SecretBytes([1]), salt: [UInt8](repeating: 1, count: salt), parameters: .standard,
          byteCount: byteCount)
      }
    }
  }

  @Test("the passcode is still there afterwards, and another one gives another key")
  func passcodeIsLent() throws {
    let floor = Argon2id.Bounds.standard.floor
    let passcode = SecretBytes(Array("correct horse".utf8))
    let key = try Argon2id.derive(from: passcode, salt: salt, parameters: floor).revealed
    #expect(passcode.revealed == Array("correct horse".utf8))
    #expect(try Argon2id.derive(from: passcode, salt: salt, parameters: floor).revealed == key)
    let other = SecretBytes(Array("correct horsf".utf8))
    #expect(try Argon2id.derive(from: other, salt: salt, parameters: floor).revealed != key)
    #expect(Argon2Memory.wasLocked != nil)
    print("Argon2id work memory locked: \(Argon2Memory.wasLocked == true)")
  }
}
