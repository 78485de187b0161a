public import VaultKit

/// What an answer says, on the side of the person who pays. Whether it is true cannot be seen here: the key is at the server.
public struct CardAnswer: Sendable, Equatable {
  /// How the challenge ended.
  public let outcome: CardOutcome
  /// The number of the error; 0 if there is none.
  public let errorNumber: UInt32
  /// The error in words, made of at most 1,024 bytes; characters that do not show are escaped. `nil` if the answer has none.
  public let errorText: String?
  /// When the token of the answer ends; `nil` for an answer without a token.
  public let expires: Instant?

  /// An answer that came without a token.
  static let withoutToken = CardAnswer(outcome: .failure, errorNumber: 0, errorText: nil, expires: nil)

  init(outcome: CardOutcome, errorNumber: UInt32, errorText: String?, expires: Instant?) {
    (self.outcome, self.errorNumber, self.errorText, self.expires) = (
      outcome, errorNumber, errorText, expires
    )
  }

  init(_ token: ResponseToken) {
    self.init(
      outcome: token.outcome, errorNumber: token.errorNumber, errorText: token.errorText,
      expires: token.expires)
  }
}
