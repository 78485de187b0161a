import AuthenticatorKit
import SecretMemory
import VaultKit

/// The codes of a bank: behind a PIN, which a phrase or a finger can replace.
struct BankCodes: Sendable {
  let vault: Vault
  let prompt: any Prompt

  private var context: AuthenticationContext {
    AuthenticationContext(reason: "log in to the bank", prompt: prompt)
  }

  /// Makes a PIN, and puts the key of the bank behind it. The person types a new PIN twice, and then the PIN.
  func enroll(key: consuming SecretBytes) async throws {
    let pin = try await PINItem.make(NewPINItem(.checked), in: vault, context: context)
    var bank = NewOTPCredential(.hotp(counter: 0), name: "bank")
    bank.pin = pin
    _ = try await OTPCredential.enroll(bank, key: key, in: vault, context: context)
  }

  /// Registers a biokey: the person types the PIN. Returns whether it has replaced another one.
  func registerBiokey() async throws -> Bool {
    let pin = try await PINItem(named: "pin", in: vault)
    return try await Biokeys(of: pin).register(context: context).hasReplaced
  }

  /// The next code. Asks for the phrase or the finger, and for the PIN if the person gives an empty answer.
  func code() async throws -> String {
    try await OTPCredential.named("bank", in: vault).nextCode(context: context).code
  }
}
