import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// A vault that goes to another owner, as into the keeper.
@Suite("A vault that is moved", .bounded, .requirement("G7"))
struct VaultMoveTests {
  private let place = TemporaryVault()
  private let other = TemporaryVault()

  /// A vault with the passcode "right", two items and one wrong passcode. It is closed.
  private func make() throws -> [ItemID] {
    let core = try place.makeCore(passcode: "right")
    var ids = [try core.add(NewItem(.genericPassword, name: "mail"), secret: SecretBytes(testing: "m-1"))]
    let device = AccessControl(.whenUnlocked, thisDeviceOnly: true)
    ids.append(
      try core.add(
        NewItem(.genericPassword, name: "here", access: device), secret: SecretBytes(testing: "h-1")))
    core.lock()
    expect(.authenticationFailed) { () throws(VaultError) in
      try core.unlock(with: Passcode(testing: "wrong"))
    }
    return ids.map(\.id)
  }

  private func copy(_ source: borrowing VaultMove.Source, to protector: any Protector) throws -> VaultOutline
  {
    try FileManager.default.createDirectory(atPath: other.folder + "/data", withIntermediateDirectories: true)
    let key = try CarriedKey(place.protector.loadKey(source.outline.deviceKey, of: source.outline.vault))
    return try source.lend { descriptor throws(VaultError) in
      try VaultMove.copy(
        from: descriptor, keptBy: key, to: other.path, protector: protector,
        environment: place.environment)
    }
  }

  // Verified to fail when the copy is made as a backup is.
  @Test("nothing is left out: items of this device, counts and the number of commits")
  func whole() throws {
    let ids = try make()
    let before = try VaultCore.open(
      at: place.path, protector: place.protector, environment: place.environment
    )
    .status()
    let outline = try copy(VaultMove.Source(of: place.path), to: other.protector)
    #expect(outline.vault == before.vault && outline.deviceKey != before.deviceKey)
    let moved = try VaultCore.open(at: other.path, protector: other.protector, environment: place.environment)
    let after = try moved.status()
    expect(after.itemCount, equals: 2)
    expect(after.passcodeFailures, equals: 1)
    #expect(after.sequence > before.sequence)
    try moved.unlock(with: Passcode(testing: "right"))
    for (id, text) in zip(ids, ["m-1", "h-1"]) {
      try expect(moved.secret(of: id).bytesForTesting, equals: Array(text.utf8))
    }
  }

  @Test("the copy opens by its own device key alone, and the source by its own")
  func ownKeys() throws {
    _ = try make()
    let carried = CarriedKey()
    let outline = try copy(VaultMove.Source(of: place.path), to: carried)
    try expect(#require(carried.carried).id, equals: outline.deviceKey)
    expect(.deviceKeyAbsent) { () throws(VaultError) in
      _ = try VaultCore.open(at: other.path, protector: place.protector, environment: place.environment)
    }
    expect(.deviceKeyAbsent) { () throws(VaultError) in
      _ = try VaultCore.open(at: place.path, protector: carried, environment: place.environment)
    }
    _ = try VaultCore.open(at: other.path, protector: carried, environment: place.environment)
    _ = try VaultCore.open(at: place.path, protector: place.protector, environment: place.environment)
  }

  // Verified to fail when Source takes no hold.
  @Test("a vault that is open is not moved, and one that is moved is not opened")
  func held() throws {
    _ = try make()
    let path = place.path
    do {
      let core = try VaultCore.open(at: path, protector: place.protector, environment: place.environment)
      expect(.busy) { () throws(VaultError) in _ = try VaultMove.Source(of: path) }
      _ = try core.status()
    }
    let source = try VaultMove.Source(of: path)
    var environment = place.environment
    environment.patience = .milliseconds(50)
    expect(.busy) { () throws(VaultError) in
      _ = try VaultCore.open(at: path, protector: place.protector, environment: environment)
    }
    _ = source.outline
  }

  // Verified to fail when the failed copy is left there.
  @Test("of bytes that are no vault, or whose key is another one, nothing is left")
  func refused() throws {
    _ = try make()
    let source = try VaultMove.Source(of: place.path)
    let stranger = try CarriedKey(SharedSecret(SecretBytes(zeroes: 32)))
    try FileManager.default.createDirectory(atPath: other.folder + "/data", withIntermediateDirectories: true)
    try source.lend { descriptor throws(VaultError) in
      expect(.deviceKeyAbsent) { () throws(VaultError) in
        _ = try VaultMove.copy(
          from: descriptor, keptBy: stranger, to: other.path, protector: other.protector,
          environment: place.environment)
      }
    }
    let text = unsafe open("/etc/passwd", O_RDONLY | O_CLOEXEC)
    defer { close(text) }
    expect(.damaged) { () throws(VaultError) in
      _ = try VaultMove.copy(
        from: text, keptBy: stranger, to: other.path, protector: other.protector,
        environment: place.environment)
    }
    try expect(FileManager.default.contentsOfDirectory(atPath: other.folder + "/data"), equals: [])
    #expect(!FileManager.default.fileExists(atPath: other.folder + "/state"))
  }

  @Test("a vault that was set aside is gone for those who wait for it")
  func setAside() throws {
    _ = try make()
    let source = try VaultMove.Source(of: place.path)
    try source.letGo()
    expect(.vaultMissing) { () throws(VaultError) in
      _ = try VaultCore.open(at: place.path, protector: place.protector, environment: place.environment)
    }
    _ = source.outline
  }
}
