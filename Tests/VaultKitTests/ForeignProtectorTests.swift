import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Protectors that misbehave", .bounded, .requirement("L1"))
struct ForeignProtectorTests {
  private let place = TemporaryVault()

  /// Verified to fail when the id of the returned key is not compared: the vault then counts as busy.
  @Test("another key than the one asked for is wrong, and is not tried")
  func anotherKey() throws {
    _ = try place.makeCore()
    let other = Misbehaving(files: place.protector) { () throws(VaultError) in
      try DeviceKey(SecretBytes(testing: String(repeating: "k", count: 32)))
    }
    expect(.deviceKeyWrong) { () throws(VaultError) in
      _ = try VaultCore.open(at: place.path, protector: other, environment: place.environment)
    }
  }

  @Test("a key of another size than 32 bytes is damaged", arguments: [0, 31, 33])
  func size(byteCount: Int) throws {
    _ = try place.makeCore()
    let short = Misbehaving(files: place.protector) { () throws(VaultError) in
      try DeviceKey(SecretBytes(testing: String(repeating: "k", count: byteCount)))
    }
    expect(.deviceKeyDamaged) { () throws(VaultError) in
      _ = try VaultCore.open(at: place.path, protector: short, environment: place.environment)
    }
  }

  @Test("an error of a protector arrives as it was thrown, and leaves no vault")
  func error() throws {
    let failing = Misbehaving(files: place.protector, storing: VaultError(.busy, "not now")) {
      () throws(VaultError) in throw VaultError(.deviceKeyLocked, "closed", hint: "open it", underlying: 7)
    }
    expect(.busy) { () throws(VaultError) in
      _ = try VaultCore.create(at: place.path, protector: failing, environment: place.environment)
    }
    #expect(!FileManager.default.fileExists(atPath: place.path))
    _ = try place.makeCore()
    let error = thrown { () throws(VaultError) in
      _ = try VaultCore.open(at: place.path, protector: failing, environment: place.environment)
    }
    #expect(error?.code == .deviceKeyLocked && error?.message == "closed" && error?.hint == "open it")
    expect(error?.underlying, equals: 7)
  }
}

/// Key files that return what the test says.
private struct Misbehaving: WrappedFiles {
  let files: FileProtector
  var storing: VaultError?
  let load: @Sendable () throws(VaultError) -> DeviceKey

  func probe(_ vault: VaultID) throws(VaultError) -> ProtectorState { .absent }
  func loadKey(_ key: DeviceKeyID, of vault: VaultID) throws(VaultError) -> DeviceKey { try load() }
  func storeKey(_ key: borrowing DeviceKey, of vault: VaultID) throws(VaultError) {
    if let storing { throw storing }
    try files.storeKey(key, of: vault)
  }
}
