import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Passcode", .bounded)
struct PasscodeTests {
  @Test("with a passcode a vault opens locked, and afterFirstUnlock items open all the same")
  func locked() throws {
    let place = TemporaryVault()
    let core = try place.makeCore(passcode: "open sesame")
    #expect(core.isUnlocked)
    let inner = try core.add(NewItem(.genericPassword, name: "in"), secret: SecretBytes(testing: "1"))
    let outer = try core.add(
      NewItem(.genericPassword, name: "out", access: AccessControl(.afterFirstUnlock)),
      secret: SecretBytes(testing: "2"))
    let again = try place.openCore()
    #expect(!again.isUnlocked)
    try expect(again.secret(of: outer.id).byteCount, equals: 1)
    expect(.locked) { () throws(VaultError) in _ = try again.secret(of: inner.id) }
    expect(.locked) { () throws(VaultError) in _ = try again.add(NewItem(.genericPassword, name: "x")) }
    try again.unlock(with: Passcode(testing: "open sesame"))
    try expect(again.secret(of: inner.id).byteCount, equals: 1)
    again.lock()
    expect(.locked) { () throws(VaultError) in _ = try again.secret(of: inner.id) }
  }

  @Test("a passcode can be set, changed and removed; no item is touched and the right one opens each time")
  func life() throws {
    let place = TemporaryVault()
    let core = try place.makeCore()
    let item = try core.add(NewItem(.genericPassword, name: "n"), secret: SecretBytes(testing: "s"))
    try core.setPasscode(Passcode(testing: "one"))
    #expect(core.isUnlocked)
    try expectOpens(place, item.id, with: "one", notWith: "two")
    try core.changePasscode(from: Passcode(testing: "one"), to: Passcode(testing: "two"))
    try expectOpens(place, item.id, with: "two", notWith: "one")
    #expect(try core.removePasscode(Passcode(testing: "two")).items.isEmpty)
    try expect(place.openCore().secret(of: item.id).byteCount, equals: 1)
    let report = try place.openCore().verify()
    expect(report.problems, equals: [])
    #expect(report.isAuditChainChecked)
  }

  private func expectOpens(_ place: TemporaryVault, _ id: ItemID, with right: String, notWith wrong: String)
    throws
  {
    let core = try place.openCore()
    expect(.authenticationFailed) { () throws(VaultError) in try core.unlock(with: Passcode(testing: wrong)) }
    #expect(!core.isUnlocked)
    try core.unlock(with: Passcode(testing: right))
    try expect(core.secret(of: id).byteCount, equals: 1)
    try expect(core.verify().problems, equals: [])
  }

  @Test("whenPasscodeSet is refused without a passcode, and dies with it")
  func whenPasscodeSet() throws {
    let core = try TemporaryVault().makeCore()
    let new = NewItem(.genericPassword, name: "n", access: AccessControl(.whenPasscodeSet))
    expect(.policy) { () throws(VaultError) in _ = try core.add(new) }
    try core.setPasscode(Passcode(testing: "p"))
    let first = try core.add(new, secret: SecretBytes(testing: "s"))
    try expect(core.itemsBehindPasscode().items.map(\.name), equals: ["n"])
    // As many items as were announced, but another one.
    try core.delete(first.id)
    _ = try core.add(new, secret: SecretBytes(testing: "s"))
    expect(.policy) { () throws(VaultError) in
      _ = try core.removePasscode(Passcode(testing: "p"), announced: [first.id])
    }
    try expect(core.removePasscode(Passcode(testing: "p")).items.count, equals: 1)
    #expect(try core.items(matching: Query()).isEmpty)
    try expect(core.verify().problems, equals: [])
  }

  @Test("the fifth failure delays a minute, and the delays grow; no attempt derives while one is waiting")
  func delays() throws {
    let clock = FixedClock()
    let count = Counter()
    let place = TemporaryVault(environment: .testing(clock: clock, derivationObserver: { count.add() }))
    let core = try place.makeCore(passcode: "right")
    count.reset()
    for _ in 0..<5 { fail(core) }
    expect(count.value, equals: 5)
    for minutes: Int64 in [1, 5, 15, 30, 90, 240, 720, 2160, 2160] {
      expectLockedOut(core)
      clock.advance(by: .milliseconds(minutes * 60_000 - 1))
      expectLockedOut(core)
      let before = count.value
      clock.advance(by: .milliseconds(1))
      fail(core)
      expect(count.value, equals: before + 1)
    }
    clock.advance(by: .seconds(2160 * 60))
    try core.unlock(with: Passcode(testing: "right"))
    fail(core)
    try core.unlock(with: Passcode(testing: "right"))
  }

  @Test("a reboot restarts the delay, and setting the wall clock changes nothing")
  func reboot() throws {
    let clock = FixedClock()
    let place = TemporaryVault(environment: .testing(clock: clock))
    let core = try place.makeCore(passcode: "right")
    for _ in 0..<5 { fail(core) }
    clock.set(to: Instant(milliseconds: 4_000_000_000_000))
    expectLockedOut(core)
    clock.advance(by: .seconds(59))
    clock.reboot()
    expectLockedOut(core)
    clock.advance(by: .milliseconds(59_999))
    expectLockedOut(core)
    clock.advance(by: .milliseconds(1))
    try core.unlock(with: Passcode(testing: "right"))
  }

  @Test("another process's change of the passcode locks this one, a new recovery code does not")
  func otherProcess() throws {
    let place = TemporaryVault()
    let one = try place.makeCore(passcode: "p")
    let two = try place.openCore()
    try two.unlock(with: Passcode(testing: "p"))
    _ = try two.makeRecoveryCode()
    _ = try one.add(NewItem(.genericPassword, name: "a"), secret: SecretBytes(testing: "s"))
    try two.changePasscode(from: Passcode(testing: "p"), to: Passcode(testing: "q"))
    expect(.locked) { () throws(VaultError) in _ = try one.add(NewItem(.genericPassword, name: "b")) }
    try one.unlock(with: Passcode(testing: "q"))
    _ = try one.add(NewItem(.genericPassword, name: "b"))
  }

  @Test("a passcode that was verified before another process changed it removes, derives and enrolls nothing")
  func staleVerification() throws {
    let place = TemporaryVault()
    let one = try place.makeCore(passcode: "p")
    let checked = try one.checked(Passcode(testing: "p"))
    let two = try place.openCore()
    try two.changePasscode(from: Passcode(testing: "p"), to: Passcode(testing: "q"))
    expect(.busy) { () throws(VaultError) in _ = try one.removePasscode(checked) }
    expect(.busy) { () throws(VaultError) in
      _ = try one.recalibrate(Passcode(testing: "p"), checked: checked, target: .milliseconds(1)) {}
    }
    expect(.busy) { () throws(VaultError) in _ = try one.enrollLogin(with: checked) }
    try one.unlock(with: Passcode(testing: "q"))
    expect(try one.enrolledMembers().map(\.name), equals: [])
  }

  @Test("a class key of a passcode that was removed and set again is never used", .requirement("R21"))
  func staleClassKey() throws {
    let place = TemporaryVault()
    let one = try place.makeCore(passcode: "p")
    let two = try place.openCore()
    _ = try two.removePasscode(Passcode(testing: "p"))
    try two.setPasscode(Passcode(testing: "p"))
    let new = NewItem(.genericPassword, name: "a", access: AccessControl(.whenPasscodeSet))
    expect(.locked) { () throws(VaultError) in _ = try one.add(new, secret: SecretBytes(testing: "s")) }
    try one.unlock(with: Passcode(testing: "p"))
    let item = try one.add(new, secret: SecretBytes(testing: "s"))
    try expect(two.secret(of: item.id).byteCount, equals: 1)
  }

  @Test("the recovery code ends a delay; another code and a mistyped one do not")
  func recoveryEndsDelay() throws {
    let place = TemporaryVault(environment: .testing(clock: FixedClock()))
    let core = try place.makeCore(passcode: "right")
    let code = try core.makeRecoveryCode()
    let other = try TemporaryVault().makeCore().makeRecoveryCode()
    for _ in 0..<5 { fail(core) }
    expect(.authenticationFailed) { () throws(VaultError) in try core.endDelay(with: other) }
    expectLockedOut(core)
    let typed = try RecoveryCode(text: code.text)
    try core.endDelay(with: typed)
    try core.unlock(with: Passcode(testing: "right"))
    var text = code.text.bytesForTesting
    text[3] = text[3] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
    let mistyped = SecretBytes(copying: text)
    expect(.malformed) { () throws(VaultError) in _ = try RecoveryCode(text: mistyped) }
  }

  @Test(
    "a passcode that is judged while the vault is unlocked opens nothing, and only a wrong one counts",
    .requirement("G6"))
  func judged() throws {
    let core = try TemporaryVault(environment: .testing(clock: FixedClock())).makeCore(passcode: "right")
    let config = try core.status().config
    let before = try core.auditEntries().count
    try core.judge(Passcode(testing: "right"))
    let first = thrown { () throws(VaultError) in try core.judge(Passcode(testing: "wrong")) }
    expect(first?.code, equals: .authenticationFailed)
    expect(first?.attemptsLeft, equals: 4)
    #expect(core.isUnlocked)
    try core.judge(Passcode(testing: "right"))
    let entries = try core.auditEntries().dropFirst(before)
    expect(entries.map(\.operation), equals: [.given, .given, .unlocked, .given])
    let results: [AuditResult] = [.success, .authenticationFailed, .authenticationFailed, .success]
    expect(entries.map(\.result), equals: results)
    try expect(core.status().config, equals: config)
    try expect(core.status().passcodeFailures, equals: 0)
  }

  /// The first commit counts the attempt, the second one has the verdict.
  @Test(
    "a verdict that could not be written is not told, and a right passcode opens nothing with it",
    .requirement("G6"), arguments: ["right", "wrong"], [true, false])
  func unwrittenVerdict(typed: String, isUnlocked: Bool) throws {
    let core = try TemporaryVault(environment: .testing(clock: FixedClock())).makeCore(passcode: "right")
    if !isUnlocked { core.lock() }
    let commits = Mutex(0)
    let failing = core.committing { _ throws(VaultError) in
      let count = commits.withLock { commits in
        commits += 1
        return commits
      }
      if count == 2 { throw VaultError(.io, "the disk is full") }
    }
    let error = thrown { () throws(VaultError) in
      let passcode = try Passcode(testing: typed)
      if isUnlocked { try failing.judge(passcode) } else { try failing.unlock(with: passcode) }
    }
    expect(error?.code, equals: .io)
    expect(error?.attemptsLeft, equals: nil)
    expect(core.isUnlocked, equals: isUnlocked)
    #expect(commits.withLock { $0 } >= 2)
  }

  @Test("a lock is logged with its reason and its caller, after the keys are wiped")
  func lockIsNoted() throws {
    let core = try TemporaryVault().makeCore(passcode: "right")
    let peer = Caller(user: 1001, process: 4711)
    core.lock()
    #expect(core.asked(by: peer).noteLock(reason: "idle for too long"))
    #expect(!core.isUnlocked)
    let entry = try #require(try core.auditEntries().last)
    expect(entry.operation.name, equals: "locked")
    expect(entry.detail, equals: "idle for too long")
    expect(entry.caller, equals: peer)
    try core.unlock(with: Passcode(testing: "right"))
    try expect(core.verify().problems, equals: [])
  }

  @Test("a lock that cannot be logged, because another program writes, holds all the same")
  func lockIsNotNoted() throws {
    var environment = VaultEnvironment.testing()
    environment.patience = .zero
    let place = TemporaryVault(environment: environment)
    let core = try place.makeCore(passcode: "right")
    let before = try core.auditEntries().count
    try place.openCore().writing { _ throws(VaultError) in
      core.lock()
      #expect(!core.noteLock(reason: "the machine went to sleep"))
    }
    #expect(!core.isUnlocked)
    try expect(core.auditEntries().count, equals: before)
  }

  @Test("wrong passcodes that are judged delay the next one, also the right one", .requirement("G6"))
  func judgedUntilDelay() throws {
    let core = try TemporaryVault(environment: .testing(clock: FixedClock())).makeCore(passcode: "right")
    for _ in 0..<5 {
      expect(.authenticationFailed) { () throws(VaultError) in try core.judge(Passcode(testing: "wrong")) }
    }
    expect(.passcodeDelay) { () throws(VaultError) in try core.judge(Passcode(testing: "right")) }
    expectLockedOut(core)
    #expect(core.isUnlocked)
  }

  @Test(
    "a passcode that is judged opens no locked vault; without a passcode there is nothing to judge",
    .requirement("G6"))
  func judgedOtherwise() throws {
    let core = try TemporaryVault().makeCore(passcode: "right")
    core.lock()
    try core.judge(Passcode(testing: "right"))
    #expect(!core.isUnlocked)
    let open = try TemporaryVault().makeCore()
    expect(.policy) { () throws(VaultError) in try open.judge(Passcode(testing: "right")) }
  }

  private func fail(_ core: VaultCore) {
    expect(.authenticationFailed) { () throws(VaultError) in try core.unlock(with: Passcode(testing: "wrong"))
    }
  }

  private func expectLockedOut(_ core: VaultCore) {
    expect(.passcodeDelay) { () throws(VaultError) in try core.unlock(with: Passcode(testing: "right")) }
  }
}

/// A count of derivations.
final class Counter: Sendable {
  private let count = Mutex(0)
  var value: Int { count.withLock { $0 } }
  func add() { count.withLock { $0 += 1 } }
  func reset() { count.withLock { $0 = 0 } }
}
