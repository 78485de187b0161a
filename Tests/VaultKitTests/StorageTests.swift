import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Storage", .bounded)
struct StorageTests {
  private static let keys = [
    "", "%", "%25", "%2525", " ", "  ", "a", "A", "a b", "\n", "\0", "é", "e\u{301}", "\u{200B}", "🗝️",
    "../../etc", String(repeating: "k", count: 16 << 10), "service", "name",
  ]

  private func storage(
    _ place: TemporaryVault, service: String = "app"
  ) throws -> (Vault, ItemStorage) {
    let vault = try place.open()
    return (vault, try ItemStorage(vault, service: service))
  }

  @Test("any text is a key, and each has its own value", .requirement("D1"))
  func keys() async throws {
    let place = TemporaryVault()
    _ = try place.makeCore()
    let (vault, storage) = try storage(place)
    let other = try ItemStorage(vault, service: "other")
    for (index, key) in Self.keys.enumerated() {
      #expect(try await storage.get(key)?.byteCount == nil)
      try await storage.set(key, SecretBytes(testing: "value \(index)"))
    }
    for (index, key) in Self.keys.enumerated() {
      try await expect(storage.get(key)?.bytesForTesting, equals: Array("value \(index)".utf8), "\(index)")
      #expect(try await other.get(key)?.byteCount == nil)
    }
    expect(Set(Self.keys.map(ItemStorage.account(of:))).count, equals: Self.keys.count)
    #expect(try await vault.items(matching: .all).allSatisfy { $0.name == nil })
    for key in Self.keys {
      try await storage.remove(key)
      try await storage.remove(key)
      #expect(try await storage.get(key)?.byteCount == nil)
    }
    await expect(.malformed) { _ = try await storage.get(String(repeating: "k", count: 16 << 10 | 1)) }
  }

  @Test("a storage is opened in a vault that it makes where there is none, and keeps its values")
  func opened() async throws {
    let place = TemporaryVault()
    let path = VaultPath(place.folder + "/shop.vault")
    for known in [nil, Array("value".utf8)] {
      let storage = try await ItemStorage.open(at: path, service: "shop", protector: place.protector)
      try await expect(storage.get("token")?.bytesForTesting, equals: known)
      try await storage.set("token", SecretBytes(copying: "value".utf8.span))
    }
  }

  @Test("a value has 0 bytes to 64 KiB and more, byte for byte", .requirement("D1"))
  func values() async throws {
    let place = TemporaryVault()
    _ = try place.makeCore()
    let (_, storage) = try storage(place)
    for count in [0, 1, 255, 4096, 65_535, 65_536, 1 << 20] {
      let value = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      try await storage.set("key", SecretBytes(copying: value))
      try await expect(storage.get("key")?.bytesForTesting, equals: value)
    }
    await expect(.malformed) {
      try await storage.set("key", SecretBytes(copying: [UInt8](repeating: 1, count: 1 << 20 | 1)))
    }
    try await storage.set("key", SecretBytes(testing: "canary-of-a-storage"))
    let bytes = try Data(contentsOf: URL(fileURLWithPath: place.path))
    #expect(bytes.range(of: Data("canary-of-a-storage".utf8)) == nil)
  }

  /// Verified to fail when a value is looked for by service and account alone.
  @Test("an item with a name is no value, also one of the same service and account")
  func named() async throws {
    let place = TemporaryVault()
    _ = try place.makeCore()
    let (vault, storage) = try storage(place)
    var new = NewItem(.genericPassword, name: "of a person")
    (new.attributes[.service], new.attributes[.account]) = ("app", "setup")
    let item = try await vault.add(new, secret: SecretBytes(testing: "precious"))
    #expect(try await storage.get("setup")?.byteCount == nil)
    try await storage.set("setup", SecretBytes(testing: "value"))
    try await storage.update("setup") { _ throws(VaultError) in SecretBytes(testing: "next") }
    try await expect(storage.get("setup")?.bytesForTesting, equals: Array("next".utf8))
    try await storage.remove("setup")
    try await storage.remove("setup")
    try await expect(vault.secret(of: item.id).bytesForTesting, equals: Array("precious".utf8))
    try await expect(vault.items(matching: .all).map(\.id), equals: [item.id])
  }

  /// Verified to fail when the value is read in another transaction than the one that writes it.
  @Test("four programs that update one key lose nothing", .requirement("D3"))
  func updates() async throws {
    let place = TemporaryVault()
    _ = try place.makeCore()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          let (_, storage) = try storage(place)
          for _ in 0..<50 { try await storage.update("counter", Self.next) }
        }
      }
      try await group.waitForAll()
    }
    let (_, last) = try storage(place)
    try await expect(last.get("counter")?.bytesForTesting, equals: Array("200".utf8))
  }

  @Sendable private static func next(_ old: consuming SecretBytes?) throws(VaultError) -> SecretBytes? {
    var number = 0
    switch old {
    case .some(let old): number = Int(String(decoding: old.bytesForTesting, as: UTF8.self)) ?? -1
    case .none: break
    }
    return SecretBytes(testing: String(number + 1))
  }

  @Test("an update can remove, and changes nothing where it throws", .requirement("D3"))
  func updateEnds() async throws {
    let place = TemporaryVault()
    _ = try place.makeCore()
    let (_, storage) = try storage(place)
    try await storage.update("key") { _ throws(VaultError) in SecretBytes(testing: "one") }
    await expect(.wrongState) {
      try await storage.update("key") { _ throws(VaultError) in throw VaultError(.wrongState, "no") }
    }
    try await expect(storage.get("key")?.bytesForTesting, equals: Array("one".utf8))
    try await storage.update("key") { _ throws(VaultError) in nil }
    #expect(try await storage.get("key")?.byteCount == nil)
    try await storage.update("key") { _ throws(VaultError) in nil }
  }
}
