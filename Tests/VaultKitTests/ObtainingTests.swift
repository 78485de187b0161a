import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultFormat
import VaultKit
import VaultTestKit

/// What happens between the moment in which a use gets what is missing, and its transaction.
@Suite("What a use lacks is asked for outside of it", .bounded, .requirement("R23"))
struct ObtainingTests {
  private let place = TemporaryVault(environment: .testing(clock: FixedClock()))
  private let between = Between()

  private static let add = Use.add(NewItem(.genericPassword, name: "new"), by: nil)

  /// A locked vault, whose protector lets something happen directly before a transaction that changes it.
  private func locked() throws -> (core: VaultCore, other: VaultCore, id: ItemID) {
    _ = try place.makeCore(passcode: "passcode")
    let other = try place.openCore()
    try other.unlock(with: Passcode(testing: "passcode"))
    let access = try AccessControl(.devicePasscode)
    let id = try other.add(
      NewItem(.genericPassword, name: "n", access: access), secret: SecretBytes(testing: "first")
    ).id
    let protector = MeddlingFiles(files: place.protector, between: between)
    let core = try VaultCore.open(at: place.path, protector: protector, environment: place.environment)
    return (core, other, id)
  }

  private func given() throws -> AuthenticationContext {
    let context = AuthenticationContext(reason: "")
    context.provide(try Passcode(testing: "passcode"))
    return context
  }

  /// Verified to fail when a transaction that begins again is not looked at, and when `StartingOver` never lets it begin again.
  @Test("new keys of another process between the passcode and the work: a given passcode unlocks again")
  func newKeys() throws {
    let (core, other, _) = try locked()
    between.happens(in: core) {
      #expect(throws: Never.self) { try other.rotateEpoch(passcode: Passcode(testing: "passcode")) }
    }
    var transaction = try core.beginWriting(Self.add, context: given())
    _ = try transaction.add(NewItem(.genericPassword, name: "new"), secret: SecretBytes(testing: "s"))
    try transaction.commit()
    #expect(between.hasHappened)
    try expect(core.status().generation, equals: 2)
  }

  /// Verified to fail when the passcode is asked for again.
  @Test("the same with a passcode that was typed: nobody is asked a second time")
  func typed() throws {
    let (core, other, _) = try locked()
    between.happens(in: core) {
      #expect(throws: Never.self) { try other.rotateEpoch(passcode: Passcode(testing: "passcode")) }
    }
    let prompt = ScriptedPrompt([.text("passcode"), .text("passcode")])
    expect(.locked) { () throws(VaultError) in
      _ = try core.add(
        NewItem(.genericPassword, name: "new"), context: AuthenticationContext(reason: "", prompt: prompt))
    }
    #expect(between.hasHappened && prompt.requests.count == 1)
    try expect(core.items(matching: Query(name: "new")).count, equals: 0)
  }

  /// Verified to fail when `StartingOver` does not compare the locks.
  @Test("a lock by hand between the passcode and the work is not undone, although the passcode is given")
  func lock() throws {
    let (core, _, _) = try locked()
    between.happens(in: core) { core.lock() }
    let context = try given()
    expect(.locked) { () throws(VaultError) in
      _ = try core.add(NewItem(.genericPassword, name: "new"), context: context)
    }
    #expect(between.hasHappened && !core.hasOpenKeys)
    try expect(core.items(matching: Query(name: "new")).count, equals: 0)
  }

  /// Verified to fail when the place that begins again does not ask for the locks.
  @Test("a lock that was undone meanwhile ends the call all the same")
  func lockAndUnlock() throws {
    let (core, _, _) = try locked()
    between.happens(in: core) {
      core.lock()
      #expect(throws: Never.self) { try core.unlock(with: Passcode(testing: "passcode")) }
    }
    let context = try given()
    expect(.appCancelled) { () throws(VaultError) in
      _ = try core.add(NewItem(.genericPassword, name: "new"), context: context)
    }
    try expect(core.items(matching: Query(name: "new")).count, equals: 0)
  }

  /// Verified to fail when the locks are counted from the beginning of the call on.
  @Test(
    "a lock by hand while the call waits for its first transaction is one that the call finds: it asks, and works"
  )
  func lockedBefore() throws {
    let (core, _, _) = try locked()
    try core.unlock(with: Passcode(testing: "passcode"))
    between.happens(in: core, after: 0) { core.lock() }
    let prompt = ScriptedPrompt([.text("passcode")])
    var transaction = try core.beginWriting(
      Self.add, context: AuthenticationContext(reason: "", prompt: prompt))
    _ = try transaction.add(NewItem(.genericPassword, name: "new"), secret: SecretBytes(testing: "s"))
    try transaction.commit()
    #expect(between.hasHappened)
    expect(prompt.requests.count, equals: 1)
    #expect(core.isUnlocked)
  }

  /// Verified to fail when a row that is not there counts as one that does not open.
  @Test("what is not there is refused as that in a locked vault, and nobody is asked for its deletion")
  func absent() throws {
    let (core, other, id) = try locked()
    try other.delete(id)
    let asked = Mutex(0)
    let asking = core.committing(
      by: { _ in },
      unlocking: {
        asked.withLock { $0 += 1 }
        return false
      })
    expect(.itemNotFound) { () throws(VaultError) in try asking.delete(id) }
    expect(asked.withLock { $0 }, equals: 0)
  }

  /// Verified to fail when the context is not looked at again.
  @Test("a context that is invalidated between the passcode and the work ends the call")
  func invalidated() throws {
    let (core, _, _) = try locked()
    let context = try given()
    between.happens(in: core) { context.invalidate() }
    expect(.appCancelled) { () throws(VaultError) in
      _ = try core.add(NewItem(.genericPassword, name: "new"), context: context)
    }
    try expect(core.items(matching: Query(name: "new")).count, equals: 0)
  }

  /// Verified to fail when a transaction with a verification is not looked at again: the gate then refuses in the work.
  @Test("another secret between the verification and the work refuses the work, and nobody is asked again")
  func otherSecret() throws {
    let (core, other, id) = try locked()
    between.happens(in: core) {
      #expect(throws: Never.self) {
        try other.update(id, ItemChanges(), secret: SecretBytes(testing: "other"), context: given())
      }
    }
    let prompt = ScriptedPrompt([.text("passcode"), .text("passcode")])
    expect(.busy) { () throws(VaultError) in
      _ = try core.beginWriting(
        .secret(.use, of: id, by: nil), context: AuthenticationContext(reason: "", prompt: prompt))
    }
    #expect(between.hasHappened && prompt.requests.count == 1)
  }

  /// Verified to fail when `checking` is asked after what is missing was obtained.
  @Test("nobody is asked for a use that is refused, and what refuses it is looked at in each transaction")
  func refused() throws {
    let (core, _, id) = try locked()
    let prompt = ScriptedPrompt([.text("passcode")])
    let context = AuthenticationContext(reason: "", prompt: prompt)
    expect(.wrongState) { () throws(VaultError) in
      _ = try core.beginWriting(.secret(.use, of: id, by: nil), context: context) {
        (_) throws(VaultError) in throw VaultError(.wrongState, "refused")
      }
    }
    expect(prompt.requests.count, equals: 0)
    var looks = 0
    try core.beginReading(.secret(.use, of: id, by: nil), context: context) { _ in looks += 1 }.end()
    #expect(looks == 2 && prompt.requests.count == 1)
  }

  /// A transaction that is still open would trap in this thread.
  @Test("while a person is asked, the vault is free for everybody, also for this thread")
  func free() throws {
    let (core, other, id) = try locked()
    let prompt = FreePrompt { () throws(VaultError) in
      _ = try core.status()
      _ = try other.add(NewItem(.genericPassword, name: "meanwhile"))
    }
    let context = AuthenticationContext(reason: "", prompt: prompt)
    try core.beginWriting(.secret(.use, of: id, by: nil), context: context).commit()
    try expect(core.items(matching: Query(name: "meanwhile")).count, equals: 1)
  }

  /// Verified to fail when a wrong passcode is noted by both the passcode and the use.
  @Test("a denial is logged once", arguments: [false, true])
  func denial(isUnlocked: Bool) throws {
    let (core, _, id) = try locked()
    if isUnlocked { try core.unlock(with: Passcode(testing: "passcode")) }
    let context = AuthenticationContext(reason: "", prompt: ScriptedPrompt([.cancel]))
    try expect(core.secret(failing: id, with: context), equals: .cancelled)
    try expect(core.auditEntries().count { $0.operation == .accessDenied }, equals: 1)
  }
}

/// Something that happens once, between the unlocking and the transaction after it.
private final class Between: Sendable {
  private struct Step: Sendable {
    let core: VaultCore
    /// How many transactions in an unlocked vault come before.
    var left: Int
    let then: @Sendable () -> Void
  }
  private let step = Mutex<Step?>(nil)
  var hasHappened: Bool { step.withLock { $0 == nil } }

  /// - Parameter count: Transactions in an unlocked vault that come before. The first is that of the verdict on the passcode.
  func happens(in core: VaultCore, after count: Int = 1, _ then: @escaping @Sendable () -> Void) {
    step.withLock { $0 = Step(core: core, left: count, then: then) }
  }

  func look() {
    let due = step.withLock { step -> Step? in
      guard let now = step, now.core.hasOpenKeys else { return nil }
      step?.left -= 1
      if now.left == 0 { step = nil }
      return now.left == 0 ? now : nil
    }
    due?.then()
  }
}

/// A person who answers with the passcode while something else happens.
private struct FreePrompt: Prompt {
  let meanwhile: @Sendable () throws(VaultError) -> Void

  func readSecret(_ request: PromptRequest) throws(VaultError) -> SecretBytes {
    try meanwhile()
    return SecretBytes(testing: "passcode")
  }

  func confirm(_ request: PromptRequest) throws(VaultError) -> Bool { false }
  func show(_ line: String, for request: PromptRequest) {}
  func cancel() {}
}

/// Key files; something may happen directly before a transaction that changes the vault.
private struct MeddlingFiles: WrappedFiles {
  let files: FileProtector
  let between: Between

  func noteCommit(_ commit: SeenCommit, under key: DeviceKeyID, of vault: VaultID) {
    files.noteCommit(commit, under: key, of: vault)
  }
  func seenCommit(under key: DeviceKeyID, of vault: VaultID) -> SeenCommit? {
    between.look()
    return files.seenCommit(under: key, of: vault)
  }
}
