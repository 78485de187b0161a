import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Open or create", .bounded, .requirement("L8"))
struct OpenOrCreateTests {
  private let place = TemporaryVault()

  init() throws { try FileManager.default.createDirectory(atPath: place.folder + "/data", mode: 0o700) }

  private func openOrCreate(
    _ passcode: String? = nil, protector: FileProtector? = nil
  ) async throws(VaultError) -> OpenedOrCreatedVault {
    try await Vault.openOrCreate(
      at: VaultPath(place.path), protector: protector ?? place.protector,
      passcode: passcode.map { text throws(VaultError) in try Passcode(testing: text) },
      environment: place.environment)
  }

  private var contents: [String] {
    (FileManager.default.enumerator(atPath: place.folder)?.compactMap { $0 as? String } ?? []).sorted()
  }

  @Test("the first call creates, the next one opens the same vault")
  func twice() async throws {
    let path = VaultPath(place.path)
    let first = try await Vault.openOrCreate(at: path, protector: place.protector)
    let item = try await first.vault.add(
      NewItem(.genericPassword, name: "a"), secret: SecretBytes(testing: "x"))
    let second = try await Vault.openOrCreate(at: path, protector: place.protector)
    #expect(first.isNew && !second.isNew)
    try await expect(second.vault.secret(of: item.id).bytesForTesting, equals: Array("x".utf8))
    try await expect(first.vault.status().vault, equals: second.vault.status().vault)
  }

  // Verified to fail when the traces are not looked for.
  @Test(
    "what shows that a vault was there prevents a new one",
    arguments: [
      "-wal", "-shm", "-journal", ".before-restore", ".restoring",
      ".restoring-" + String(repeating: "0a", count: 16),
    ])
  func traces(suffix: String) async throws {
    try Data([1]).write(to: URL(fileURLWithPath: place.path + suffix))
    let before = contents
    let error = await thrown { () async throws(VaultError) in _ = try await openOrCreate() }
    #expect(error?.code == .vaultMissing && error?.message.contains(place.path + suffix) == true)
    expect(contents, equals: before)
  }

  @Test("a file of another vault with a longer name does not prevent it")
  func neighbour() async throws {
    for suffix in [".old", ".restorings", "-wall", "2-wal"] {
      try Data([1]).write(to: URL(fileURLWithPath: place.path + suffix))
    }
    #expect(try await openOrCreate().isNew)
  }

  // Verified to fail when missing directories are made.
  @Test("a directory that is missing is not made: its disk may not be mounted")
  func noDirectory() async throws {
    try FileManager.default.removeItem(atPath: place.folder + "/data")
    let error = await thrown { () async throws(VaultError) in _ = try await openOrCreate() }
    #expect(error?.code == .vaultMissing && error?.message.contains("directory") == true)
    expect(contents, equals: [])
  }

  @Test("a vault that does not open is neither replaced nor given another key")
  func broken() async throws {
    do { _ = try place.makeCore() }
    let outline = try VaultCore.outline(at: place.path)
    let key = place.protector.path(of: outline.deviceKey, outline.vault)
    try FileManager.default.moveItem(atPath: key, toPath: place.folder + "/elsewhere")
    let before = contents
    await expect(.deviceKeyAbsent) { _ = try await openOrCreate() }
    expect(contents, equals: before)
    try Data("no vault".utf8).write(to: URL(fileURLWithPath: place.path))
    await expect(.damaged) { _ = try await openOrCreate() }
    try expect(String(contentsOfFile: place.path, encoding: .utf8), equals: "no vault")
  }

  // Verified to fail when an opened vault is not unlocked with the passcode.
  @Test("the passcode is that of a new vault, and unlocks one that is there")
  func passcode() async throws {
    #expect(try await openOrCreate("pass").vault.isUnlocked)
    #expect(try await openOrCreate("pass").vault.isUnlocked)
    #expect(try await !openOrCreate().vault.isUnlocked)
    await expect(.authenticationFailed) { _ = try await openOrCreate("other") }
    try await expect(openOrCreate().vault.status().passcodeFailures, equals: 1)
  }

  @Test("a vault without a passcode is not taken for one that has the passcode")
  func unguarded() async throws {
    _ = try await openOrCreate()
    await expect(.policy) { _ = try await openOrCreate("pass") }
  }

  // Verified to fail when the lock of the path is not taken.
  @Test(
    "of tasks in one process, also with a named key file, one creates and all get one vault",
    arguments: [false, true])
  func tasks(isNamed: Bool) async throws {
    let files = isNamed ? FileProtector(file: place.folder + "/keys/my.key") : place.protector
    let results = try await withThrowingTaskGroup(of: OpenedOrCreatedVault.self) { group in
      for _ in 0..<8 { group.addTask { try await openOrCreate(protector: files) } }
      return try await group.reduce(into: [OpenedOrCreatedVault]()) { $0.append($1) }
    }
    expect(results.count { $0.isNew }, equals: 1)
    let id = try await results[0].vault.status().vault
    for result in results { try await expect(result.vault.status().vault, equals: id) }
    try expect(files.keys(of: id).count, equals: 1)
    let keys = contents.filter { $0.hasSuffix(".key") || $0.hasSuffix(".new") }
    expect(keys.count, equals: 1, "\(keys)")
  }

  @Test("what a killed creation left is in nobody's way")
  func leftovers() async throws {
    for name in ["/data/.test.vault.new", "/data/.test.vault.new-wal", "/data/test.vault.lock"] {
      // A lock has no content, or a note.
      try Data().write(to: URL(fileURLWithPath: place.folder + name))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: place.folder + name)
    }
    #expect(try await openOrCreate().isNew)
    #expect(!contents.contains { $0.contains(".new") || $0.hasSuffix(".lock") })
  }

  @Test(
    "the device key of a creation that was killed is deleted by the next one, which leaves one key",
    arguments: [false, true], [false, true])
  func leftKey(isNamed: Bool, isWritten: Bool) async throws {
    let files = isNamed ? FileProtector(file: place.folder + "/keys/my.key") : place.protector
    try leaveUnfinished(key: isWritten ? .whole : .empty, in: files)
    let made = try await openOrCreate(protector: files)
    #expect(made.isNew)
    let id = try await made.vault.status().vault
    try expect(files.keys(of: id).count, equals: 1)
    let keys = contents.filter { $0.hasSuffix(".key") || $0.contains(".new") || $0.hasSuffix(".lock") }
    expect(keys.count, equals: 1, "\(keys)")
  }

  @Test(
    "a file in the place of a named key that no killed creation has left is neither replaced nor removed",
    arguments: LeftKey.allCases)
  func foreignKey(kind: LeftKey) async throws {
    let file = place.folder + "/keys/my.key"
    try leaveUnfinished(key: kind, in: FileProtector(file: file))
    let before = try Data(contentsOf: URL(fileURLWithPath: file))
    // The note of the killed creation is gone, or it names another key.
    if kind != .other {
      try Data().write(to: URL(fileURLWithPath: place.path + ".lock"))
    }
    await expect(.vaultExists) { _ = try await openOrCreate(protector: FileProtector(file: file)) }
    try expect(Data(contentsOf: URL(fileURLWithPath: file)), equals: before)
  }

  /// What is in the place of the device key after a creation that was killed.
  enum LeftKey: CaseIterable {
    case empty, whole, other
  }

  /// Leaves what a creation leaves that is killed: an unfinished vault, and a lock that names its key.
  private func leaveUnfinished(key left: LeftKey, in files: FileProtector) throws {
    let random = SeededRandom(seed: 7).source
    let vault = try #require(VaultID(try random.newBytes(16)))
    let key = try DeviceKey.fresh(random: random)
    if left == .other {
      try files.storeKey(DeviceKey.fresh(random: random), of: vault)
    } else {
      try files.storeKey(key, of: vault)
    }
    if left == .empty {
      try FileHandle(forWritingTo: URL(fileURLWithPath: files.path(of: key.id, vault))).truncate(atOffset: 0)
    }
    let draft = place.folder + "/data/.test.vault.new"
    try Data().write(to: URL(fileURLWithPath: draft))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: draft)
    let lock = place.path + ".lock"
    let note = "\(vault.hexadecimal) \(key.id.hexadecimal) \(String(repeating: "0", count: 32))"
    try Data(note.utf8).write(to: URL(fileURLWithPath: lock))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: lock)
  }
}

extension FileManager {
  fileprivate func createDirectory(atPath path: String, mode: Int) throws {
    try createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: mode])
  }
}
