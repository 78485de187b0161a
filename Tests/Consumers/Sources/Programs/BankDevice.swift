import AuthenticatorKit
import OneTimePassword
import SecretMemory
import VaultKit

/// The device of a customer: activated with two codes of the bank, then used to log in and to seal payments.
struct BankDevice: Sendable {
  let vault: Vault
  let bank: any Transport
  let prompt: any Prompt

  private var context: AuthenticationContext { AuthenticationContext(reason: "use the bank", prompt: prompt) }

  /// The first step: the code of a letter. The vault then has a secret of the activation, and no key of codes.
  func start(code: consuming SecretBytes) async throws {
    let new = NewActivation("bank")
    _ = try await Activation.start(new, code: code, over: bank, in: vault, context: context)
  }

  /// The PIN that is to guard the key, made once. The person types it twice.
  func makePIN() async throws {
    _ = try await PINItem.make(NewPINItem(.checked), in: vault, context: context)
  }

  /// The second step: a code that came on another way, perhaps after a restart of the program. Asks for the PIN.
  func finish(code: consuming SecretBytes) async throws {
    let pin = try await PINItem(named: "pin", in: vault)
    let activation = Activation(of: "bank", in: vault)
    _ = try await activation.finish(code: code, pin: pin, over: bank, context: context)
  }

  /// The code for a question of the bank, which has accepted it. Asks for the PIN.
  func logIn() async throws -> String {
    try await OCRACredential.named("bank", in: vault).onlineCode(over: bank, context: context).code
  }

  /// The code that seals a payment, which the bank has accepted. The prompt for the PIN shows the payment whole.
  func seal(_ payment: String) async throws -> String {
    let credential = try await OCRACredential.named("bank", in: vault)
    let (shown, data) = (try ShownText(payment), Array(payment.utf8))
    let request = OCRARequest(try OCRAQuestion(data: data.span, for: credential.suite))
    return try await credential.onlineSeal(request, over: bank, context: context.showing(shown)).code
  }
}
