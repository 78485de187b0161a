import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Asking for a PIN", .bounded)
struct AskingPINTests {
  private let place = TemporaryVault()
  private let core: VaultCore

  init() throws { core = try place.makeCore() }

  /// What a component would judge: 8306 is right, and each answer is noted.
  private func ask(
    for request: PINRequest = PINRequest("make a code", of: nil), _ context: AuthenticationContext?,
    seen: Seen = Seen(), attemptsLeft: Int = 9
  ) throws(VaultError) -> Bool {
    try core.askingPIN(request, context: context) { (pin, shown) throws(VaultError) in
      let text = String(decoding: pin.bytes.bytesForTesting, as: UTF8.self)
      seen.note(text + (shown.outcome == nil ? " given" : " typed"))
      guard text == "8306" else {
        throw VaultError(.authenticationFailed, "wrong PIN", attemptsLeft: attemptsLeft)
      }
      return true
    }
  }

  private func context(_ answers: [ScriptedPrompt.Answer], reuse: Duration = .zero) -> (
    AuthenticationContext, ScriptedPrompt
  ) {
    let prompt = ScriptedPrompt(answers)
    return (AuthenticationContext(reason: "", prompt: prompt, reuse: reuse), prompt)
  }

  @Test("a given PIN is used before a person is asked, and dropped when it is wrong")
  func given() throws {
    let (context, prompt) = context([.text("8306")])
    context.provide(try PIN(SecretBytes(testing: "1111")))
    expect(.authenticationFailed) { () throws(VaultError) in _ = try ask(context) }
    #expect(prompt.requests.isEmpty)
    #expect(try ask(context))
    expect(prompt.requests.map(\.subject), equals: [.pin])
    context.provide(try PIN(SecretBytes(testing: "8306")))
    #expect(try ask(context))
  }

  // Verified to fail when a typed PIN is kept like a passcode.
  @Test("`reuse` serves no PIN: each use asks again")
  func reuse() throws {
    let (context, prompt) = context([.text("8306"), .text("8306")], reuse: .seconds(300))
    for uses in 1...2 {
      #expect(try ask(context))
      expect(prompt.requests.count, equals: uses)
    }
  }

  @Test(
    "three answers are judged, with what was wrong and how many are left; one of a wrong form is no attempt")
  func rounds() throws {
    let (context, prompt) = context([.text("12a4"), .text("1111"), .text("2222"), .text("8306")])
    let seen = Seen()
    var request = PINRequest("make a code", of: nil)
    request.attemptsLeft = 10
    expect(.authenticationFailed) { () throws(VaultError) in _ = try ask(for: request, context, seen: seen) }
    expect(seen.texts, equals: ["1111 typed", "2222 typed"])
    expect(prompt.requests.map(\.triesLeft), equals: [3, 2, 1])
    expect(prompt.requests.map { $0.problem == nil }, equals: [true, false, false])
    expect(prompt.requests.last?.problem, equals: "wrong PIN, 9 attempts left")
    #expect(prompt.requests.allSatisfy { $0.operation == "make a code" && $0.emptyAnswer == "cancels" })
  }

  @Test("after the last attempt nobody is asked again")
  func last() throws {
    let (context, prompt) = context([.text("1111"), .text("8306")])
    expect(.authenticationFailed) { () throws(VaultError) in _ = try ask(context, attemptsLeft: 0) }
    expect(prompt.requests.count, equals: 1)
  }

  @Test("a new PIN is typed twice; a different second one is malformed, and nothing is judged")
  func twice() throws {
    let seen = Seen()
    let (same, prompt) = context([.text("8306"), .text("8306")])
    #expect(try ask(for: PINRequest(newFor: "set it"), same, seen: seen))
    expect(prompt.requests.map(\.subject), equals: [.newPIN, .newPIN])
    expect(prompt.requests.map(\.question), equals: [nil, "new PIN again"])
    let (other, _) = context([.text("8306"), .text("8307")])
    expect(.malformed) { () throws(VaultError) in
      _ = try ask(for: PINRequest(newFor: "set it"), other, seen: seen)
    }
    expect(seen.texts, equals: ["8306 typed"])
  }

  @Test("a refused new PIN is asked for again")
  func refusedNew() throws {
    let (context, prompt) = context([.text("1234"), .text("1234"), .text("8306"), .text("8306")])
    try core.askingPIN(PINRequest(newFor: "set it"), context: context) {
      (pin, _) throws(VaultError) in
      guard pin.bytes.bytesForTesting == Array("8306".utf8) else {
        throw VaultError(.pinRefused, "too common")
      }
    }
    expect(prompt.requests[2].problem, equals: "too common")
  }

  // Verified to fail when a denial is logged for it.
  @Test("a channel with anything but a PIN is refused, and leaves no trace in the file")
  func channel() throws {
    let before = try core.status().sequence
    let context = AuthenticationContext(
      reason: "", prompt: ChannelPrompt(text: "\u{661}\u{662}\u{663}\u{664}"))
    expect(.pinRefused) { () throws(VaultError) in _ = try ask(context) }
    try expect(core.status().sequence, equals: before)
    #expect(try ask(AuthenticationContext(reason: "", prompt: ChannelPrompt(text: "8306"))))
  }

  @Test("nobody to ask, a declined prompt and a typed PIN of a wrong form are logged")
  func logged() throws {
    for (answers, code) in [
      ([.cancel], .cancelled), ([.text("12a4"), .text(""), .text("1")], .cancelled), ([], .cancelled),
    ] as [([ScriptedPrompt.Answer], VaultError.Code)] {
      expect(code) { () throws(VaultError) in _ = try ask(context(answers).0) }
    }
    expect(.interactionNotAllowed) { () throws(VaultError) in _ = try ask(nil) }
    let entries = try core.auditEntries()
    expect(entries.count { $0.operation == .promptShown && $0.detail == "PIN" }, equals: 4)
    expect(entries.count { $0.operation == .accessDenied }, equals: 4)
  }
}

/// A prompt whose channel has an answer, and which asks nobody.
private struct ChannelPrompt: Prompt {
  let text: String
  func givenSecret(for request: PromptRequest) throws(VaultError) -> SecretBytes? {
    SecretBytes(testing: text)
  }
  func readSecret(_ request: PromptRequest) throws(VaultError) -> SecretBytes {
    throw VaultError(.interactionNotAllowed, "nobody")
  }
  func confirm(_ request: PromptRequest) throws(VaultError) -> Bool { false }
}

/// What was judged.
private final class Seen {
  private(set) var texts: [String] = []
  func note(_ text: String) { texts.append(text) }
}
