import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("From the biokey to the PIN", .bounded, .requirement("B4"))
struct FactorLadderTests {
  private static let both = ["biometry", "pin"]

  private typealias Subjects = Set<PromptRequest.Subject>

  private func offered(_ prompt: ScriptedPrompt) -> [Subjects] {
    prompt.requests.map { Set([$0.subject] + $0.alternatives) }
  }

  /// Verified to fail when the PIN is offered after one failure, and when the failures of the biokey start again with each
  /// use.
  @Test("the biokey, after 3 failures the biokey or the PIN, after 5 the PIN, until it is right")
  func climb() throws {
    let scene = try TransactionScene()
    let first = try scene.pushed(types: Self.both)
    let wrong = ScriptedPrompt.Answer.text("wrong")
    let (context, prompt) = scene.asking(wrong, wrong, wrong, wrong, wrong, .text("8306"))
    let decision = try scene.accept(first, by: .biometry, context)
    let (bio, both, pin): (Subjects, Subjects, Subjects) = ([.phrase], [.phrase, .pin], [.pin])
    expect(offered(prompt), equals: [bio, bio, bio, both, both, pin])
    #expect(decision.factor == .pin && scene.server.answers.last?.word("type") == "pin")
    expect(prompt.requests.map(\.triesLeft), equals: [5, 4, 3, 2, 1, 3])
    expect(prompt.requests.map(\.problem).filter { $0 == "that is no member's phrase" }.count, equals: 4)
    #expect(prompt.requests.allSatisfy { $0.text?.text == TransactionScene.text })
    expect(
      prompt.requests.map(\.emptyAnswer),
      equals: ["cancels", "cancels", "cancels", "goes on to the PIN", "goes on to the PIN", "cancels"])
    // The right PIN has ended it.
    let second = try scene.pushed(types: Self.both)
    let (again, next) = scene.asking(.text("right"))
    try expect(scene.accept(second, by: .biometry, again).factor, equals: .biometry)
    expect(offered(next), equals: [bio])
    try expect(scene.uses(), equals: [7, 0, 10, 5])
  }

  @Test("the failures of earlier uses count, and an empty answer goes on to the PIN")
  func alternative() throws {
    let scene = try TransactionScene()
    let id = try scene.pushed(types: Self.both)
    let wrong = ScriptedPrompt.Answer.text("wrong")
    let (first, cancelled) = scene.asking(wrong, wrong, .text(""))
    expect(.cancelled) { () throws(VaultError) in _ = try scene.accept(id, by: .biometry, first) }
    expect(offered(cancelled), equals: [[.phrase], [.phrase], [.phrase]])
    let (second, prompt) = scene.asking(wrong, .text(""), .text("8306"))
    try expect(scene.accept(id, by: .biometry, second).factor, equals: .pin)
    expect(offered(prompt), equals: [[.phrase], [.phrase, .pin], [.pin]])
    try expect(scene.uses(), equals: [6, 0, 10, 5])
  }

  @Test("who cancels where the PIN is offered too decides nothing, and a wrong PIN is an error")
  func declined() throws {
    let scene = try TransactionScene()
    let id = try scene.pushed(types: Self.both)
    let wrong = ScriptedPrompt.Answer.text("wrong")
    let (first, _) = scene.asking(wrong, wrong, wrong, .cancel)
    expect(.cancelled) { () throws(VaultError) in _ = try scene.accept(id, by: .biometry, first) }
    let (second, prompt) = scene.asking(wrong, wrong, .text("8307"), .cancel)
    expect(.cancelled) { () throws(VaultError) in _ = try scene.accept(id, by: .biometry, second) }
    expect(offered(prompt), equals: [[.phrase, .pin], [.phrase, .pin], [.pin], [.pin]])
    #expect(try scene.status(id) == .pending && scene.uses() == [5, 0, 9, 0])
    // It is withdrawn until the PIN is right: of two that are offered one is left, and there is no choice.
    try expect(scene.core.transactionDetails(of: id).choices, equals: [.pin])
    try expect(scene.accept(id, scene.context(pin: "8306")).factor, equals: .pin)
    try expect(scene.uses(), equals: [6, 0, 10, 5])
  }

  /// Verified to fail when a locked biokey that is chosen is refused.
  @Test("after five failures the PIN is asked for at once, though the biokey is chosen")
  func lockedBefore() throws {
    let scene = try TransactionScene()
    let id = try scene.pushed(types: Self.both)
    let wrong = ScriptedPrompt.Answer.text("wrong")
    let (first, _) = scene.asking(wrong, wrong, wrong, wrong, wrong, .cancel)
    expect(.cancelled) { () throws(VaultError) in _ = try scene.accept(id, by: .biometry, first) }
    let (second, prompt) = scene.asking(.text("8306"))
    try expect(scene.accept(id, by: .biometry, second).factor, equals: .pin)
    expect(offered(prompt), equals: [[.pin]])
    try expect(scene.uses(), equals: [6, 0, 10, 5])
  }

  @Test("without the PIN in the transaction the biokey alone is asked for, and its lock is an error")
  func biometryAlone() throws {
    let scene = try TransactionScene()
    let id = try scene.pushed(types: ["biometry"])
    for _ in 0..<5 {
      expect(.authenticationFailed) { () throws(VaultError) in
        _ = try scene.accept(id, try! scene.context(pin: "8306", phrase: "wrong"))
      }
    }
    expect(.biokeyLocked) { () throws(VaultError) in
      _ = try scene.accept(id, try! scene.context(pin: "8306", phrase: "right"))
    }
    #expect(try scene.status(id) == .pending && scene.uses() == [5, 0, 10, 0])
  }

  @Test(
    "a phrase that was given and is wrong is an error at once, and a PIN that was given waits for its turn")
  func given() throws {
    let scene = try TransactionScene()
    let id = try scene.pushed(types: Self.both)
    for left in [4, 3, 2] {
      expect(.authenticationFailed) { () throws(VaultError) in
        _ = try scene.accept(id, by: .biometry, try! scene.context(pin: "8306", phrase: "wrong"))
      }
      try expect(scene.uses(), equals: [5, 0, 10, left])
    }
    try expect(
      scene.accept(id, by: .biometry, scene.context(pin: "8306", phrase: "wrong")).factor, equals: .pin)
  }

  @Test("after a change of the enrolled set the PIN is asked for")
  func otherSet() throws {
    let scene = try TransactionScene()
    _ = try scene.core.enroll(
      BiometricPhrase(testing: "other"), named: "other", passcode: Passcode(testing: "passcode"))
    let id = try scene.pushed(types: Self.both)
    let (context, prompt) = scene.asking(.text("8306"))
    try expect(scene.accept(id, context).factor, equals: .pin)
    expect(offered(prompt), equals: [[.pin]])
  }
}
