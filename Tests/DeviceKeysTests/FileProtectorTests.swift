import DeviceKeys
import Foundation
import Glibc
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultFormat
import VaultTestKit

@Suite("Device keys in files", .bounded)
struct FileProtectorTests {
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("keys-\(UUID().uuidString)").path
  private let vault = VaultID(Array(1...16))!
  private let random = SeededRandom(seed: 68)

  private func withKey(_ body: (FileProtector, borrowing DeviceKey, String) throws -> Void) throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let protector = FileProtector(folder: folder)
    let key = try DeviceKey.fresh(random: random.source)
    try protector.storeKey(key, of: vault)
    try body(protector, key, "\(folder)/\(vault.hexadecimal)/\(key.id.hexadecimal).key")
  }

  @Test("a key that was stored is found, read back as it is, and is gone when it was deleted")
  func life() throws {
    try withKey { protector, key, path in
      try expect(protector.keys(of: vault), equals: [key.id])
      let back = try protector.loadKey(key.id, of: vault)
      let isEqual = back.isEqual(to: key)
      #expect(isEqual)
      try protector.deleteKey(key.id, of: vault)
      expect(.deviceKeyAbsent) { () throws(VaultError) in _ = try protector.loadKey(key.id, of: vault) }
      #expect(!FileManager.default.fileExists(atPath: path))
    }
  }

  /// Verified to fail when a key file gets the mode 0640.
  @Test("a key file is for its owner alone")
  func mode() throws {
    try withKey { _, _, path in
      var entry = stat()
      try #require(unsafe stat(path, &entry) == 0)
      expect(entry.st_mode & 0o7777, equals: 0o600)
    }
  }

  /// Verified to fail when the mode of a key file is not looked at.
  @Test(
    "a key file that others may read is refused, and so is a link to one", arguments: [0o644, 0o640, 0o604])
  func readable(mode: Int) throws {
    try withKey { protector, key, path in
      try #require(unsafe chmod(path, mode_t(mode)) == 0)
      #expect(thrown { () throws(VaultError) in _ = try protector.loadKey(key.id, of: vault) } != nil)
      try #require(unsafe chmod(path, 0o600) == 0)
      try FileManager.default.moveItem(atPath: path, toPath: path + ".moved")
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path + ".moved")
      #expect(thrown { () throws(VaultError) in _ = try protector.loadKey(key.id, of: vault) } != nil)
    }
  }

  /// Verified to fail when the id of a key that was read is not compared.
  @Test("the key of another vault in the place of a key is refused")
  func exchanged() throws {
    try withKey { protector, key, path in
      let other = try DeviceKey.fresh(random: random.source)
      try protector.storeKey(other, of: vault)
      let place = "\(folder)/\(vault.hexadecimal)/\(other.id.hexadecimal).key"
      try FileManager.default.removeItem(atPath: path)
      try FileManager.default.moveItem(atPath: place, toPath: path)
      expect(.deviceKeyWrong) { () throws(VaultError) in _ = try protector.loadKey(key.id, of: vault) }
    }
  }

  @Test("a key has 32 bytes, and its id tells nothing but which key it is", arguments: [0, 31, 33])
  func length(count: Int) throws {
    expect(.deviceKeyDamaged) { () throws(VaultError) in _ = try DeviceKey(SecretBytes(zeroes: count)) }
    let one = try DeviceKey(SecretBytes(zeroes: 32))
    let same = try DeviceKey(SecretBytes(zeroes: 32))
    let other = try DeviceKey.fresh(random: random.source)
    let (ids, keys) = ([one.id, same.id, other.id], (one.isEqual(to: same), one.isEqual(to: other)))
    #expect(ids[0] == ids[1] && ids[0] != ids[2])
    #expect(keys.0 && !keys.1)
  }
}
