public import VaultKit

/// What a push message says about a transaction. Its way is not protected, so nothing of it is believed: it says what to ask
/// the server for, and its names are neither stored nor listed.
public struct PushPayload: Sendable, Equatable {
  /// The name of the transaction, 1 to 64 bytes.
  public let alias: String
  /// What the server wants; `nil` if the message does not say.
  public var action: TransactionAction?
  /// The service; a program finds the credential by it.
  public var service: String?
  /// The service in words for people, for a program that shows the message.
  public var serviceName: String?
  /// This device, as the server names it, for a program that shows the message.
  public var deviceAlias: String?
  /// How many seconds the transaction waits, at most 30 days: used if the server does not say.
  public var secondsToLive: Int?

  /// A push message about the transaction of a name.
  ///
  /// - Throws: ``VaultError/Code/malformed`` for a name of another length, or with characters that do not show.
  public init(alias: String) throws(VaultError) {
    guard (1...64).contains(alias.utf8.count), VisibleText.flaw(in: alias) == nil else {
      throw VaultError(
        .malformed, "the name of a transaction has 1 to 64 bytes whose characters show",
        hint: "ask the server for the next transaction instead")
    }
    self.alias = alias
  }
}
