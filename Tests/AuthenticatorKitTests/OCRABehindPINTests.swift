import AuthenticatorKit
import OneTimePassword
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Credentials with a suite behind a PIN, and what their prompts show", .bounded, .requirement("A16"))
struct OCRABehindPINTests {
  private static let data = "Pay 12 EUR to Anna\nfor the tickets"

  private func context(_ pin: String? = nil, new: String? = nil) throws -> AuthenticationContext {
    let context = AuthenticationContext(reason: "test")
    if let pin { context.provide(try PIN(SecretBytes(testing: pin))) }
    if let new { context.provide(new: try PIN(SecretBytes(testing: new))) }
    return context
  }

  private func credential(
    _ data: String, behind mode: PINMode, in vault: Vault
  ) async throws -> OCRACredential {
    var new = NewOCRACredential(try OCRASuite("OCRA-1:HOTP-SHA1-6:" + data), name: "bank")
    new.pin = try await PINItem.make(NewPINItem(mode), in: vault, context: context(new: "8306"))
    return try await OCRACredential.enroll(
      new, key: SecretBytes(copying: PINRig.rawKey), in: vault, context: context("8306"))
  }

  private func request(_ suite: OCRASuite) throws -> OCRARequest {
    OCRARequest(try OCRAQuestion(data: Array(Self.data.utf8).span, for: suite))
  }

  /// The code that a server computes, which has the key alone.
  private func expected(_ suite: OCRASuite, counter: UInt64?) throws -> String {
    let question = try OCRAQuestion(data: Array(Self.data.utf8).span, for: suite)
    return try OCRAGenerator(key: SecretBytes(copying: PINRig.rawKey), suite: suite).code(
      for: OCRADataInput(question: question, counter: counter))
  }

  @Test("a wrong checked PIN signs nothing and uses no counter", arguments: ["C-QH64", "QH64"])
  func checked(data: String) async throws {
    let vault = try TemporaryVault().make()
    let credential = try await credential(data, behind: .checked, in: vault)
    let request = try request(credential.suite)
    await #expect(throws: VaultError.self) { try await credential.sign(request, context: context("8307")) }
    await #expect(throws: VaultError.self) { try await credential.sign(request) }
    let result = try await credential.sign(request, context: context("8306"))
    let counter: UInt64? = credential.suite.hasCounter ? 0 : nil
    #expect(try result.counter == counter && result.code == expected(credential.suite, counter: counter))
    #expect(try await credential.describe().state.counter == (counter == nil ? 0 : 1))
  }

  /// Verified to fail when the mask is not taken off, and when an export does not look at the PIN.
  @Test("behind a camouflaged PIN every PIN signs, and only the right one as the server does")
  func camouflaged() async throws {
    let vault = try TemporaryVault().make()
    let credential = try await credential("C-QH64", behind: .camouflaged, in: vault)
    let request = try request(credential.suite)
    for (counter, pin) in ["8306", "8307", "0000", "8306"].enumerated() {
      let result = try await credential.sign(request, context: context(pin))
      #expect(result.counter == UInt64(counter) && result.code.count == 6)
      let isRight = try result.code == expected(credential.suite, counter: UInt64(counter))
      #expect(isRight == (pin == "8306"))
    }
    try await vault.write { transaction in
      expect(.policy) { () throws(VaultError) in
        _ = try transaction.exportOCRA(transaction.item(credential.id))
      }
    }
  }

  /// Verified to fail when the text of the context is not passed to the prompt.
  @Test("the prompt before a signature shows the very data that is signed", .requirement("B7"))
  func shown() async throws {
    let vault = try TemporaryVault().make()
    let credential = try await credential("C-QH64", behind: .checked, in: vault)
    let prompt = ScriptedPrompt([.text("8306")])
    let context = AuthenticationContext(reason: "pay", prompt: prompt).showing(try ShownText(Self.data))
    let request = try request(credential.suite)
    let code = try await credential.sign(request, context: context).code
    try expect(code, equals: expected(credential.suite, counter: 0))
    expect(prompt.requests.map(\.subject), equals: [.pin])
    expect(prompt.requests.map { $0.text?.text }, equals: [Self.data])
  }
}
