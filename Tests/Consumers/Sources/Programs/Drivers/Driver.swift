/// Runs one program of the guide against a vault of its own, and expects what the guide promises.
public struct Driver: Sendable {
  /// The name of the program.
  public let name: String
  /// Throws if the program did something else.
  public let run: @Sendable () async throws -> Void

  /// The drivers of all programs.
  public static let all = [
    bankCodes, bankDevice, cardCheckout, cardView, databasePassword, loginVerifier, orderClient,
    paymentApproval,
    paymentCode,
    paymentSigner, refusalWatch, secretWindow, sessionToken, webhookSigner, worker,
  ]

  /// What did not hold.
  struct Unexpected: Error {
    let what: String
  }
}

func expect(_ holds: Bool, _ what: String) throws {
  if !holds { throw Driver.Unexpected(what: what) }
}
