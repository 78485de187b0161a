import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// An attempt of a passcode or a phrase that gets no verdict is none (docs/security/invariants.md).
@Suite("An attempt of a passcode or a phrase without a verdict", .bounded, .requirement("R23"))
struct AttemptWithoutVerdictTests {
  private let clock = FixedClock()
  private let machine = Machine()
  private let place: TemporaryVault
  private let core: VaultCore
  private let guarded: ItemID

  init() throws {
    place = TemporaryVault(environment: machine.environment(clock))
    core = try place.makeCore(passcode: "passcode")
    _ = try core.enroll(
      BiometricPhrase(testing: "phrase"), named: "voice", passcode: Passcode(testing: "passcode"))
    guarded = try core.add(
      NewItem(.genericPassword, name: "guarded", access: AccessControl(.biometryAny)),
      secret: SecretBytes(testing: "secret")
    ).id
  }

  /// Verified to fail when the memory is obtained after the attempt is counted.
  @Test("eleven times without memory for a derivation count nothing")
  func memory() throws {
    machine.hasMemory.withLock { $0 = false }
    for _ in 0..<11 { try expectShortage(of: "phrase") { () throws(VaultError) in try read() } }
    core.lock()
    for _ in 0..<11 {
      try expectShortage(of: "passcode") { () throws(VaultError) in
        try core.unlock(with: Passcode(testing: "passcode"))
      }
    }
    machine.hasMemory.withLock { $0 = true }
    // An attempt that has no verdict by then is found.
    clock.advance(by: .seconds(10))
    try core.unlock(with: Passcode(testing: "passcode"))
    try read()
    try expect(core.status().passcodeFailures, equals: 0)
    #expect(try !core.auditEntries().contains { $0.detail?.contains("killed") == true })
  }

  /// Each count is a commit. Verified to fail when the memory is obtained after the attempt is counted.
  @Test("the memory is there before the attempt is counted, and the attempt before the derivation")
  func order() throws {
    core.lock()
    let place = place
    for attempt: () throws -> Void in [
      { try core.unlock(with: Passcode(testing: "passcode")) }, { try read() },
    ] {
      let before = try core.status().sequence
      machine.watch { (try? place.openCore().status().sequence) ?? 0 }
      try attempt()
      expect(machine.seen, equals: [before, before + 1])
    }
  }

  private func read() throws(VaultError) {
    let context = AuthenticationContext(reason: "")
    context.provide(try BiometricPhrase(testing: "phrase"))
    _ = try core.secret(of: guarded, context: context)
  }

  private func expectShortage(of secret: String, _ body: () throws(VaultError) -> Void) throws {
    let thrown = thrown(body)
    let error = try #require(thrown)
    expect(error.code, equals: .io)
    #expect(
      error.message.hasPrefix("not enough memory") && error.message.contains(secret), "\(error.message)")
    #expect(error.hint?.hasPrefix("no attempt was counted") == true, "\(error.hint ?? "-")")
  }
}

/// The memory of derivations, and what is seen when it is asked for and when it is used.
private final class Machine: Sendable {
  private struct Watch {
    var look: (@Sendable () -> UInt64)?
    var seen: [UInt64] = []
  }
  let hasMemory = Mutex(true)
  private let state = Mutex(Watch())

  func environment(_ clock: FixedClock) -> VaultEnvironment {
    var environment = VaultEnvironment.testing(clock: clock, derivationObserver: { self.note() })
    environment.hasMemoryForDerivation = {
      self.note()
      return self.hasMemory.withLock { $0 }
    }
    return environment
  }

  func watch(_ look: @escaping @Sendable () -> UInt64) { state.withLock { $0 = Watch(look: look) } }

  var seen: [UInt64] { state.withLock { $0.seen } }

  private func note() {
    guard let look = state.withLock({ $0.look }) else { return }
    let found = look()
    state.withLock { $0.seen.append(found) }
  }
}
