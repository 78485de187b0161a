import AuthenticatorKit
import OneTimePassword
import SecretMemory
import TestSupport
import Testing
import VaultKit
import VaultTestKit

@Suite("Attacks on credentials with constraints", .bounded)
struct AttackConstrainedOTPTests {
  private let place = TemporaryVault(environment: .testing())

  private func makeCredential() throws -> (VaultCore, ItemID) {
    let core = try place.makeCore(passcode: "passcode")
    let uri = try OTPAuthURI(
      parsing: SecretBytes(testing: "otpauth://hotp/a?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0"))
    let access = try AccessControl(.devicePasscode, accessibility: .afterFirstUnlock)
    let id = try core.addOTP(uri, named: "n", access: access).item.id
    return (core, id)
  }

  private func context(_ prompt: ScriptedPrompt) -> AuthenticationContext {
    AuthenticationContext(reason: "", prompt: prompt)
  }

  // Fails when an export asks as a use, or the grant of one serves the other.
  @Test("whoever is asked for an export is told that the secret goes out, and not that it is used")
  func export() throws {
    let (core, id) = try makeCredential()
    let prompt = ScriptedPrompt([.text("passcode"), .text("passcode")])
    _ = try core.exportOTP(of: id, context: context(prompt))
    _ = try core.nextHOTPCode(of: id, context: context(prompt))
    expect(prompt.requests.map(\.operation), equals: ["export the secret", "use the secret"])
  }

  // Fails when the counter is taken before the gate has decided.
  @Test("a denial takes no counter, and changes none")
  func denied() throws {
    let (core, id) = try makeCredential()
    for prompt in [
      ScriptedPrompt([.cancel]), ScriptedPrompt([.text("x"), .nobody]), ScriptedPrompt([.nobody]),
    ] {
      #expect(throws: VaultError.self) { try core.nextHOTPCode(of: id, context: context(prompt)) }
      #expect(throws: VaultError.self) { try core.setCounter(of: id, to: 9, context: context(prompt)) }
      #expect(throws: VaultError.self) { _ = try core.exportOTP(of: id, context: context(prompt)) }
    }
    #expect(throws: VaultError.self) { try core.nextHOTPCode(of: id) }
    let result = try core.nextHOTPCode(of: id, context: context(ScriptedPrompt([.text("passcode")])))
    expect(result.code, equals: "755224")
  }
}
