import AuthenticatorKit
import SecretMemory
import Testing
import VaultKit
import VaultTestKit

/// The program: a code for a login, for which the person types the passcode when the vault is locked.
func loginCode(for account: String, in vault: Vault, asking prompt: any Prompt) async throws -> String {
  let context = AuthenticationContext(reason: "log in as \(account)", prompt: prompt)
  return try await OTPCredential.named(account, in: vault).nextCode(context: context).code
}

@Suite("The code for a login")
struct LoginCodeTests {
  let clock = FixedClock(at: Instant(seconds: 59))
  let place: TemporaryVault  // removes its directory when the test ends

  init() { place = TemporaryVault(TestWorld(clock: clock, random: SeededRandom(seed: 1))) }

  @Test("follows the clock, and the person is asked once")
  func code() async throws {
    let vault = try await lockedVault()
    let person = ScriptedPrompt([.text("six random words")])
    // The codes of RFC 6238, appendix B.
    #expect(try await loginCode(for: "alice", in: vault, asking: person) == "94287082")
    clock.advance(by: .seconds(1_111_111_109 - 59))
    #expect(try await loginCode(for: "alice", in: vault, asking: person) == "07081804")
    #expect(person.requests.count == 1)
  }

  @Test("is not made when no person can be asked")
  func nobody() async throws {
    let vault = try await lockedVault()
    let error = await #expect(throws: VaultError.self) {
      try await loginCode(for: "alice", in: vault, asking: ScriptedPrompt([.nobody]))
    }
    #expect(error?.code == .interactionNotAllowed)
  }

  private func lockedVault() async throws -> Vault {
    let vault = try place.make(passcode: "six random words")
    let uri = "otpauth://totp/alice?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&digits=8"
    _ = try await OTPCredential.enroll(SecretBytes(testing: uri), named: "alice", in: vault)
    vault.lock()
    return vault
  }
}
