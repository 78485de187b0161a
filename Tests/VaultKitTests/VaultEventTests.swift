import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("What an open vault tells its program", .bounded, .requirement("G12"))
struct VaultEventTests {
  private let place = TemporaryVault()

  private func first(_ count: Int, of events: AsyncStream<VaultEvent>) async -> [VaultEvent] {
    var found: [VaultEvent] = []
    for await event in events {
      found.append(event)
      if found.count == count { break }
    }
    return found
  }

  @Test("each listener gets each lock and each unlock in order, from any caller and however late it reads")
  func order() async throws {
    let vault = try place.make(passcode: "passcode")
    let early = vault.events()
    vault.lock()
    vault.lock()
    let late = vault.events()
    try await vault.unlock(with: Passcode(testing: "passcode"))
    try await vault.unlock(with: Passcode(testing: "passcode"))
    vault.asked(by: Caller(user: 1, process: 2)).lock()
    await expect(first(3, of: early), equals: [.locked, .unlocked, .locked])
    await expect(first(2, of: late), equals: [.unlocked, .locked])
  }

  @Test(
    "a change of the passcode by another process is told, with the lock that it is; one of this vault is not")
  func changed() async throws {
    let vault = try place.make(passcode: "old")
    let events = vault.events()
    try await vault.changePasscode(from: Passcode(testing: "old"), to: Passcode(testing: "new"))
    #expect(await vault.isUnlocked)
    let other = try place.openCore()
    try other.changePasscode(from: Passcode(testing: "new"), to: Passcode(testing: "newer"))
    #expect(await !vault.isUnlocked)
    try await vault.unlock(with: Passcode(testing: "newer"))
    await expect(first(3, of: events), equals: [.keysChanged, .locked, .unlocked])
  }

  @Test("without a passcode there is nothing to lock, and the events end with the vault")
  func end() async throws {
    var vault: Vault? = try place.make()
    let events = try #require(vault).events()
    vault?.lock()
    vault = nil
    await expect(first(1, of: events), equals: [])
  }

  @Test("a vault locks when its time has passed by the boot clock, however long the machine slept")
  func timed() throws {
    let clock = TimerClock()
    let core = try TemporaryVault(environment: .testing(clock: clock)).makeCore(passcode: "passcode")
    core.lock(after: .seconds(25))
    for _ in 0..<2 {
      clock.pass(.seconds(10))
      #expect(core.isUnlocked)
    }
    clock.pass(.seconds(5))
    #expect(!core.isUnlocked)
    try core.unlock(with: Passcode(testing: "passcode"))
    core.lock(after: .seconds(3600))
    clock.pass(.seconds(7200))
    #expect(!core.isUnlocked)
  }

  @Test("a later time, none, and a lock replace the time that was set", arguments: 0..<3)
  func replaced(by what: Int) throws {
    let clock = TimerClock()
    let core = try TemporaryVault(environment: .testing(clock: clock)).makeCore(passcode: "passcode")
    core.lock(after: .seconds(5))
    switch what {
    case 0: core.lock(after: .seconds(60))
    case 1: core.lock(after: nil)
    default:
      core.lock()
      try core.unlock(with: Passcode(testing: "passcode"))
    }
    clock.pass(.seconds(9))
    #expect(core.isUnlocked)
    clock.pass(.seconds(51))
    expect(core.isUnlocked, equals: what != 0)
  }
}

/// A clock whose timers run when the test moves it.
private final class TimerClock: VaultClock {
  private let time = FixedClock()
  private let due = Mutex<[@Sendable () -> Void]>([])

  func now() -> Instant { time.now() }
  func bootMilliseconds() -> UInt64 { time.bootMilliseconds() }
  func bootID() -> [UInt8]? { time.bootID() }

  func call(after milliseconds: UInt64, _ body: @escaping @Sendable () -> Void) {
    due.withLock { $0.append(body) }
  }

  /// The time passes, and then every timer looks whether its time is over.
  func pass(_ duration: Duration) {
    time.advance(by: duration)
    let bodies = due.withLock { due in
      defer { due = [] }
      return due
    }
    for body in bodies { body() }
  }
}
