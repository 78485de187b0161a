import AuthenticatorKit
import OneTimePassword
import SecretMemory
import VaultKit

/// Signs payments with a key and a counter in a vault. The bank has the same key.
struct PaymentSigner: Sendable {
  let credential: OCRACredential

  /// Enrolls the key, once. A code has eight digits, and no counter signs twice.
  init(enrolling key: consuming SecretBytes, in vault: Vault) async throws {
    let suite = try OCRASuite("OCRA-1:HOTP-SHA256-8:C-QH64")
    let new = NewOCRACredential(suite, name: "bank")
    credential = try await OCRACredential.enroll(new, key: key, in: vault)
  }

  /// The code for a payment. A prompt that comes before it shows the payment whole, or the payment is refused.
  func sign(_ payment: String, _ context: AuthenticationContext? = nil) async throws -> String {
    let shown = try ShownText(payment)
    let data = Array(payment.utf8)
    let question = try OCRAQuestion(data: data.span, for: credential.suite)
    return try await credential.sign(OCRARequest(question), context: context?.showing(shown)).code
  }
}
