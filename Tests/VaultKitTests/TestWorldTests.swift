import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("The world of a test", .bounded)
struct TestWorldTests {
  @Test("one seed and one time make the same vault, another seed makes another")
  func seeded() async throws {
    func identity(seed: UInt64) async throws -> VaultID {
      let world = TestWorld(clock: FixedClock(), random: SeededRandom(seed: seed))
      return try await TemporaryVault(world).make().status().vault
    }
    let first = try await identity(seed: 1)
    try await expect(identity(seed: 1), equals: first)
    #expect(try await identity(seed: 2) != first)
  }

  @Test("a clock does not advance until a test moves it")
  func clock() async throws {
    let clock = FixedClock(at: Instant(seconds: 100), sinceBoot: .seconds(5))
    let vault = try TemporaryVault(TestWorld(clock: clock)).make()
    let first = try await vault.add(NewItem(.genericPassword, name: "a"))
    expect(first.created, equals: Instant(seconds: 100))
    clock.advance(by: .milliseconds(1500))
    #expect(clock.now() == Instant(milliseconds: 101_500) && clock.bootMilliseconds() == 6_500)
    try await expect(vault.add(NewItem(.genericPassword, name: "b")).created, equals: clock.now())
    clock.set(to: Instant(seconds: 7))
    #expect(clock.now() == Instant(seconds: 7) && clock.bootMilliseconds() == 6_500)
    let boot = clock.bootID()
    clock.reboot()
    #expect(clock.bootMilliseconds() == 0 && clock.bootID() != boot)
  }

  @Test("wrong passcodes are delayed by the clock of the test")
  func delay() async throws {
    let clock = FixedClock()
    let vault = try TemporaryVault(TestWorld(clock: clock)).make(passcode: "right")
    vault.lock()
    for _ in 0..<5 {
      await expect(.authenticationFailed) { try await vault.unlock(with: Passcode(testing: "wrong")) }
    }
    await expect(.passcodeDelay) { try await vault.unlock(with: Passcode(testing: "right")) }
    clock.advance(by: .seconds(3600))
    try await vault.unlock(with: Passcode(testing: "right"))
    #expect(await vault.isUnlocked)
  }

  @Test("with standard derivations and the system's random bytes the vault is an ordinary one")
  func standard() async throws {
    let place = TemporaryVault(TestWorld(clock: FixedClock(), derivation: .standard))
    _ = try place.make()
    _ = try await Vault.open(at: VaultPath(place.path), protector: place.protector)
  }

  @Test("of many tasks that open or create in a world, one creates, and nothing else opens the vault")
  func openOrCreate() async throws {
    let place = TemporaryVault()
    let (path, protector) = (VaultPath(place.folder + "/new.vault"), place.protector)
    let opened = try await withThrowingTaskGroup(of: OpenedOrCreatedVault.self) { group in
      for _ in 0..<4 {
        group.addTask {
          try Vault.openOrCreate(
            at: path, protector: protector, passcode: Passcode(testing: "right"), in: TestWorld())
        }
      }
      return try await group.reduce(into: [OpenedOrCreatedVault]()) { $0.append($1) }
    }
    expect(opened.count { $0.isNew }, equals: 1)
    let id = try await opened[0].vault.status().vault
    for each in opened {
      try await expect(each.vault.status().vault, equals: id)
      #expect(await each.vault.isUnlocked)
    }
    await expect(.policy) { _ = try await Vault.openOrCreate(at: path, protector: protector) }
  }

  @Test("a vault of one world opens, restores and recovers in another")
  func lifeCycle() async throws {
    let place = TemporaryVault(TestWorld(random: SeededRandom(seed: 1)))
    let world = TestWorld(clock: FixedClock())
    let path = VaultPath(place.path)
    let vault = try Vault.create(at: path, protector: place.protector, in: world)
    let item = try await vault.add(NewItem(.genericPassword, name: "n"), secret: SecretBytes(testing: "s"))
    let code = try await vault.makeRecoveryCode()
    let backup = place.folder + "/data/b.backup"
    _ = try place.openCore().backUp(to: backup, passphrase: Passcode(testing: "p"))
    let opened = try Vault.open(at: path, protector: place.protector, in: TestWorld())
    try await expect(opened.secret(of: item.id).bytesForTesting, equals: Array("s".utf8))
    let keys = FileProtector(folder: place.folder + "/other")
    let recovered = try Vault.recover(at: path, with: code, protector: keys, in: world)
    try await expect(recovered.secret(of: item.id).bytesForTesting, equals: Array("s".utf8))
    let restored = try Vault.restore(
      from: VaultPath(backup), passphrase: Passcode(testing: "p"),
      to: VaultPath(place.folder + "/data/restored.vault"),
      protector: FileProtector(folder: place.folder + "/third"), in: world)
    try await expect(restored.secret(of: item.id).bytesForTesting, equals: Array("s".utf8))
  }
}
