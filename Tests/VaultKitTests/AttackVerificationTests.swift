import Foundation
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// A caller that uses contexts and items in ways that nobody thought of.
@Suite("Attacks on verifications", .bounded)
struct AttackVerificationTests {
  private let clock = FixedClock()
  private let place: TemporaryVault

  init() { place = TemporaryVault(environment: .testing(clock: clock)) }

  private func given(passcode: String? = nil, password: String? = nil, phrase: String? = nil) throws
    -> AuthenticationContext
  {
    let context = AuthenticationContext(reason: "", interaction: .notAllowed)
    if let passcode { context.provide(try Passcode(testing: passcode)) }
    if let password { context.provide(try ApplicationPassword(testing: password)) }
    if let phrase { context.provide(try BiometricPhrase(testing: phrase)) }
    return context
  }

  // Fails when an item's secret is sealed without the application password that its rule names.
  @Test(
    "an item of an application password never gets a secret that opens without it",
    arguments: [Constraints.applicationPassword, [.devicePasscode, .applicationPassword]])
  func secretWithoutPassword(_ constraints: Constraints) throws {
    let core = try place.makeCore(passcode: "passcode")
    let new = NewItem(.genericPassword, name: "n", access: try AccessControl(constraints))
    let both = try given(passcode: "passcode", password: "password")
    expect(.malformed) { () throws(VaultError) in _ = try core.add(new, context: both) }
    let id = try core.add(new, secret: SecretBytes(testing: "r"), context: both).id
    try core.update(id, ItemChanges(), secret: SecretBytes(testing: "s"), context: both)
    try expect(core.secret(failing: id, with: given(passcode: "passcode")), equals: .interactionNotAllowed)
    #expect(try core.secret(failing: id, with: both) == nil)
  }

  // Fails when `byFinger` does not look whether the context still holds.
  @Test("an invalidated context asks no reader")
  func invalidatedReader() throws {
    let core = try place.makeCore(passcode: "passcode")
    let reader = ScriptedBiometry(fingers: ["thumb"], [.finger("thumb"), .finger("thumb")])
    _ = try core.enrollFingers(of: reader, passcode: Passcode(testing: "passcode"))
    let id = try core.add(
      NewItem(.genericPassword, name: "n", access: AccessControl(.biometryAny)),
      secret: SecretBytes(testing: "s")
    ).id
    let context = AuthenticationContext(reason: "", biometry: reader)
    #expect(try core.secret(failing: id, with: context) == nil)
    context.invalidate()
    try expect(core.secret(failing: id, with: context), equals: .appCancelled)
    expect(reader.requests.count, equals: 1)
  }

  // Fails when the context is not looked at again after the derivation.
  @Test("a context that is invalidated while its answer is judged opens nothing")
  func invalidatedWhileJudged() throws {
    let holder = Mutex<AuthenticationContext?>(nil)
    let place = TemporaryVault(
      environment: .testing(clock: clock, derivationObserver: { holder.withLock { $0 }?.invalidate() }))
    let core = try place.makeCore(passcode: "passcode")
    let id = try core.add(
      NewItem(.genericPassword, name: "n", access: AccessControl(.devicePasscode)),
      secret: SecretBytes(testing: "s")
    ).id
    let context = AuthenticationContext(
      reason: "", prompt: ScriptedPrompt([.text("passcode")]), reuse: .seconds(60))
    holder.withLock { $0 = context }
    try expect(core.secret(failing: id, with: context), equals: .appCancelled)
  }

  // Fails when grants and kept verifications take the session of their end and not of their begin.
  @Test("a lock in the middle of a verification ends it, and what it showed before serves no longer")
  func lockedMeanwhile() throws {
    let core = try place.makeCore(passcode: "passcode")
    _ = try core.enroll(
      BiometricPhrase(testing: "phrase"), named: "n", passcode: Passcode(testing: "passcode"))
    let access = try AccessControl(.biometryAny, accessibility: .afterFirstUnlock)
    let id = try core.add(
      NewItem(.genericPassword, name: "n", access: access), secret: SecretBytes(testing: "s")
    ).id
    let prompt = LockingPrompt(core, "phrase")
    let context = AuthenticationContext(reason: "", prompt: prompt, reuse: .seconds(60))
    try expect(core.secret(failing: id, with: context), equals: .appCancelled)
    #expect(try core.secret(failing: id, with: context) == nil)
    expect(prompt.count, equals: 2)
  }

  // Fails when what a prompt reads is derived before it is canonical.
  @Test("a secret that cannot have been enrolled is not an attempt: it is neither counted nor derived")
  func uncanonical() throws {
    let core = try place.makeCore(passcode: "passcode")
    _ = try core.enroll(
      BiometricPhrase(testing: "phrase"), named: "n", passcode: Passcode(testing: "passcode"))
    let id = try core.add(
      NewItem(.genericPassword, name: "n", access: AccessControl(.biometryAny)),
      secret: SecretBytes(testing: "s")
    ).id
    for _ in 0..<3 {
      let prompt = ScriptedPrompt([
        .text("phrase\0"), .text(String(repeating: "a", count: 70 << 10)), .text("phrase"),
      ])
      let context = AuthenticationContext(reason: "", prompt: prompt)
      #expect(try core.secret(failing: id, with: context) == nil)
    }
    let prompt = ScriptedPrompt(Array(repeating: .text("\0"), count: 9))
    for _ in 0..<3 {
      try expect(
        core.secret(failing: id, with: AuthenticationContext(reason: "", prompt: prompt)), equals: .malformed)
    }
    #expect(try core.secret(failing: id, with: given(phrase: "phrase")) == nil)
  }

  // Fails when a kept passcode opens factors and leaves the classes shut.
  @Test("a kept passcode opens the vault again that another process's rotation has locked")
  func keptAfterRotation() throws {
    let core = try place.makeCore(passcode: "passcode")
    let id = try core.add(
      NewItem(.genericPassword, name: "n", access: AccessControl(.devicePasscode)),
      secret: SecretBytes(testing: "s")
    ).id
    let prompt = ScriptedPrompt([.text("passcode"), .text("passcode")])
    let context = AuthenticationContext(reason: "", prompt: prompt, reuse: .seconds(300))
    #expect(try core.secret(failing: id, with: context) == nil)
    try place.openCore().rotateEpoch(passcode: Passcode(testing: "passcode"))
    #expect(try core.secret(failing: id, with: context) == nil)
    #expect(core.isUnlocked)
  }

  // No guess is judged before all twenty guessers are in a derivation, wait for the verdicts, or were refused.
  @Test(
    "twenty guessers at once have five phrases between them, and five passcodes", arguments: [true, false])
  func parallelGuessers(guessesPhrases: Bool) throws {
    let (derivations, guessers) = (Counter(), Crowd())
    let place = TemporaryVault(
      environment: .testing(
        clock: WatchedClock(clock) { guessers.look() },
        derivationObserver: {
          derivations.add()
          guessers.meet()
        }))
    let core = try place.makeCore(passcode: "passcode")
    _ = try core.enroll(
      BiometricPhrase(testing: "phrase"), named: "n", passcode: Passcode(testing: "passcode"))
    let access = try AccessControl(.biometryAny, accessibility: .afterFirstUnlock)
    let id = try core.add(
      NewItem(.genericPassword, name: "n", access: access), secret: SecretBytes(testing: "s")
    ).id
    derivations.reset()
    let refused = Counter()
    guessers.run(20) { number in
      guard let other = try? place.openCore() else { return }
      let error = thrown { () throws(VaultError) in
        guard guessesPhrases else { return try other.unlock(with: Passcode(testing: "passcode \(number)")) }
        let own = AuthenticationContext(reason: "", interaction: .notAllowed)
        own.provide(try BiometricPhrase(testing: "g\(number)"))
        _ = try other.secret(of: id, context: own)
      }
      if error != nil { refused.add() }
    }
    #expect(derivations.value == 5 && refused.value == 20)
    if guessesPhrases {
      try expect(core.secret(failing: id, with: given(phrase: "phrase")), equals: .biometryLocked)
    } else {
      expect(.passcodeDelay) { () throws(VaultError) in try core.unlock(with: Passcode(testing: "passcode")) }
    }
  }

  // Fails when `byFinger` takes the reader's word for a finger that the set does not have.
  @Test("a reader with other fingers than the enrolled set has is not believed")
  func otherFingers() throws {
    let core = try place.makeCore(passcode: "passcode")
    let reader = ScriptedBiometry(fingers: ["thumb"])
    _ = try core.enrollFingers(of: reader, passcode: Passcode(testing: "passcode"))
    let id = try core.add(
      NewItem(.genericPassword, name: "n", access: AccessControl(.biometryCurrentSet)),
      secret: SecretBytes(testing: "s")
    ).id
    let silent = SilentReader(["index", "thumb"])
    let context = AuthenticationContext(reason: "", biometry: silent)
    try expect(core.secret(failing: id, with: context), equals: .unsupported)
    silent.fingers.withLock { $0 = ["thumb"] }
    #expect(try core.secret(failing: id, with: context) == nil)
  }
}

/// The actor over the core, and what other calls do while a prompt is open.
@Suite("Attacks on the actor's prompts", .bounded)
struct AttackActorTests {
  // Fails when `Vault.lock()` waits behind the call whose prompt is open.
  @Test("a vault with an open prompt is locked at once, and the answer opens nothing")
  func lockedBehindPrompt() async throws {
    let place = TemporaryVault(environment: .testing())
    let vault = try place.make(passcode: "passcode")
    let id = try await vault.add(
      NewItem(.genericPassword, name: "n", access: AccessControl(.devicePasscode)),
      secret: SecretBytes(testing: "s")
    ).id
    let prompt = HeldPrompt(obeys: false)
    async let error = thrown(awaiting: { () throws(VaultError) in
      _ = try await vault.secret(of: id, context: AuthenticationContext(reason: "", prompt: prompt))
    })
    await prompt.whenOpen()
    vault.lock()
    prompt.answer("passcode")
    await expect(error?.code, equals: .appCancelled)
  }
}

/// Locks the vault while it is open the first time.
private final class LockingPrompt: Prompt {
  private let core: VaultCore
  private let answer: String
  private let asked = Mutex(0)
  var count: Int { asked.withLock { $0 } }

  init(_ core: VaultCore, _ answer: String) {
    self.core = core
    self.answer = answer
  }

  func readSecret(_ request: PromptRequest) throws(VaultError) -> SecretBytes {
    if asked.withLock({ count in
      count += 1
      return count == 1
    }) {
      core.lock()
    }
    return SecretBytes(testing: answer)
  }

  func confirm(_ request: PromptRequest) -> Bool { false }
}

/// A reader that does not say which finger it was.
private final class SilentReader: BiometrySource {
  let fingers: Mutex<[String]>

  init(_ fingers: [String]) { self.fingers = Mutex(fingers) }

  func enrolledFingers() -> [String] { fingers.withLock { $0 } }

  func verify(_ request: PromptRequest, showing progress: (String) -> Void) -> String? { nil }
}
