import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultStorage
import VaultTestKit

/// Verified to fail when the failures are not read after the verdict, and when a prompt that the program ended counts as
/// declined.
@Suite("What an error says", .bounded, .requirement("L9"))
struct VaultErrorTests {
  private let place = TemporaryVault(environment: .testing(clock: FixedClock()))

  @Test("a wrong passcode says how many more are judged, then how long the delay is")
  func passcodes() throws {
    let core = try place.makeCore(passcode: "right")
    let errors = (0..<6).map { _ in
      thrown { () throws(VaultError) in try core.unlock(with: Passcode(testing: "wrong")) }
    }
    expect(errors.map { $0?.attemptsLeft }, equals: [4, 3, 2, 1, 0, 0])
    expect(errors.map { $0?.retryAfter != nil }, equals: [false, false, false, false, true, true])
    #expect(errors.dropLast().allSatisfy { $0?.code == .authenticationFailed })
    expect(errors.last??.code, equals: .passcodeDelay)
    expect(errors.last??.recovery, equals: .retryable(.after(.seconds(60))))
  }

  @Test("a file that cannot be opened says why in words")
  func unopened() {
    let error = VaultError(StorageError.cannotOpen(errno: 2), at: "/v")
    expect(error.message, equals: "the vault at /v cannot be opened: No such file or directory")
    expect(error.underlying, equals: 2)
  }

  @Test("what is wrong with a file beside the vault, or with a backup, names that file and the way out")
  func otherFiles() {
    let beside = VaultError(StorageError.refusedBeside(.notARegularFile, path: "/v-wal"), at: "/v")
    expect(beside.message, equals: "the file /v-wal beside the vault is not a file")
    #expect(beside.hint?.contains("move it away") == true)
    let backup = VaultError(StorageError.damaged(.notADatabase), backupAt: "/b")
    expect(backup.message, equals: "the backup /b is not a backup file")
    expect(
      VaultError(StorageError.refused(.symbolicLink), backupAt: "/b").message,
      equals: "the backup /b is a symbolic link")
    expect(VaultError(StorageError.missing, backupAt: "/b").message, equals: "there is no backup at /b")
  }

  @Test("a wrong phrase says how many more are judged; then biometry is locked")
  func phrases() throws {
    let core = try place.makeCore(passcode: "passcode")
    _ = try core.enroll(
      BiometricPhrase(testing: "right"), named: "n", passcode: Passcode(testing: "passcode"))
    let id = try add(.biometryAny, core)
    let errors = try (0..<6).map { _ in
      let context = AuthenticationContext(reason: "")
      context.provide(try BiometricPhrase(testing: "wrong"))
      return thrown { () throws(VaultError) in _ = try core.secret(of: id, context: context) }
    }
    expect(errors.map { $0?.attemptsLeft }, equals: [4, 3, 2, 1, 0, 0])
    #expect(errors.last??.code == .biometryLocked && errors.last??.retryAfter == nil)
  }

  @Test("an item of a set that has changed is not called absent")
  func invalidated() throws {
    let core = try place.makeCore(passcode: "passcode")
    _ = try core.enroll(BiometricPhrase(testing: "a"), named: "a", passcode: Passcode(testing: "passcode"))
    let id = try add(.biometryCurrentSet, core)
    _ = try core.enroll(BiometricPhrase(testing: "b"), named: "b", passcode: Passcode(testing: "passcode"))
    let context = AuthenticationContext(reason: "", prompt: ScriptedPrompt())
    expect(.invalidated) { () throws(VaultError) in _ = try core.secret(of: id, context: context) }
    expect(.itemNotFound) { () throws(VaultError) in
      _ = try core.secret(of: ItemID([UInt8](repeating: 1, count: 16))!, context: context)
    }
  }

  @Test("who ended a prompt is in the code and in the log: the person, the program, the time")
  func ends() throws {
    let core = try place.makeCore(passcode: "passcode")
    let id = try add(.devicePasscode, core)
    for (prompt, code, outcome) in [
      (EndingPrompt(.cancelled), .cancelled, .cancelled),
      (EndingPrompt(.cancelled, endsContext: true), .appCancelled, .program),
      (EndingPrompt(.timedOut), .timedOut, .timeout),
    ] as [(EndingPrompt, VaultError.Code, PromptOutcome)] {
      let context = AuthenticationContext(reason: "", prompt: prompt)
      prompt.context.withLock { $0 = context }
      try expect(core.secret(failing: id, with: context), equals: code)
      #expect(code.isCancellation)
      let shown = try #require(try core.auditEntries().last { $0.operation == .promptShown })
      #expect(shown.outcome == outcome && shown.result == .cancelled)
    }
    try expect(core.status().passcodeFailures, equals: 0)
  }

  private func add(_ constraint: Constraints, _ core: VaultCore) throws -> ItemID {
    try core.add(
      NewItem(.genericPassword, name: "n", access: AccessControl(constraint)),
      secret: SecretBytes(testing: "s")
    ).id
  }
}

/// A prompt that ends with an error; before that, the program may end its context.
private final class EndingPrompt: Prompt {
  let context = Mutex<AuthenticationContext?>(nil)
  private let code: VaultError.Code
  private let endsContext: Bool

  init(_ code: VaultError.Code, endsContext: Bool = false) {
    self.code = code
    self.endsContext = endsContext
  }

  func readSecret(_ request: PromptRequest) throws(VaultError) -> SecretBytes {
    if endsContext { context.withLock { $0 }?.invalidate() }
    throw VaultError(code, "as the test says")
  }

  func confirm(_ request: PromptRequest) throws(VaultError) -> Bool { false }
}
