import AuthenticatorKit
import VaultKit

/// Confirms the payments of a bank: by a phrase or a finger, and after failures by the PIN.
struct PaymentApproval: Sendable {
  let vault: Vault
  let bank: any Transport
  let prompt: any Prompt

  private var signer: TransactionSigner { TransactionSigner(vault) }
  private var context: AuthenticationContext {
    AuthenticationContext(reason: "confirm a payment", prompt: prompt)
  }

  /// The payment that waits at the bank; `nil` if there is none.
  func next() async throws -> TransactionDetails? {
    let credential = try await OCRACredential.named("bank", in: vault)
    return try await signer.pending(for: credential.id, over: bank, context: context)
  }

  /// Shows the whole text, and signs it. The bank is told after that is on disk.
  func accept(_ payment: TransactionDetails) async throws -> TransactionFactor? {
    let first = payment.choices.first { $0 != .pin }
    return try await signer.accept(payment.id, by: first, over: bank, context: context).factor
  }

  /// Needs no code, and no secret.
  func reject(_ payment: TransactionDetails) async throws {
    try await signer.reject(payment.id, over: bank)
  }
}
