public import VaultKit

/// A transaction that a server sent, without its text.
public struct PeerTransaction: Sendable, Identifiable {
  /// The item that stores it.
  public var id: ItemID { item.id }
  /// The name that the server gave it.
  public let alias: String
  /// The credential that it asks for.
  public let credential: ItemID
  /// Whole seconds in which it can be answered, by the clock since boot; 0 after its end.
  public let secondsLeft: Int
  /// What became of it. All but ``TransactionState/pending`` are final.
  public let status: TransactionState
  /// Whether the server has the decision; `nil` while there is none, and after a timeout.
  public let delivery: TransactionDelivery?
  /// Whether its text must not be shown, so that it can be rejected and not accepted.
  public var hasHiddenText: Bool { item.attributes.hiddenText != nil }
  /// Whether its time is over, which is not recorded yet.
  let hasLapsed: Bool
  /// When it was received.
  public var received: Instant { item.created }
  /// The service, as the server names it; `nil` if it does not.
  public var service: String? { item.attributes[.service] }
  /// The service in words for people; `nil` if the server has none.
  public var serviceName: String? { item.attributes[.issuer] }
  /// This device, as the server names it; `nil` if it does not.
  public var deviceAlias: String? { item.attributes[.itemDescription] }
  /// Read on request, because a list needs few of its attributes.
  private let item: Item

  /// - Throws: ``VaultError/Code/itemNotFound`` for an item of another kind, ``VaultError/Code/unsupported`` for a state that
  ///   this version does not know.
  init(_ item: Item, at now: BootTime) throws(VaultError) {
    guard item.kind == .transaction else { throw .noTransaction }
    let attributes = item.attributes
    let standing = try attributes.knownStanding()
    guard let alias = attributes[.label], let credential = attributes.itemID(.credential)
    else { throw VaultError(.unsupported, "the transaction has attributes that this version does not know") }
    (self.item, self.alias, self.credential) = (item, alias, credential)
    let isDecision = [.accepted, .rejected, .cancelled].contains(standing.state)
    delivery = isDecision ? attributes.delivery : nil
    secondsLeft = standing.state == .pending ? Int(clamping: standing.deadline.secondsLeft(now)) : 0
    hasLapsed = standing.state == .pending && secondsLeft == 0
    status = hasLapsed ? .timedOut : standing.state
  }
}

extension Item {
  /// What became of a transaction, and until when it can be answered.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound`` for an item of another kind, ``VaultError/Code/unsupported`` for a state that
  ///   this version does not know.
  func standing() throws(VaultError) -> (state: TransactionState, deadline: Deadline) {
    guard kind == .transaction else { throw .noTransaction }
    return try attributes.knownStanding()
  }
}

extension Attributes {
  fileprivate func knownStanding() throws(VaultError) -> (state: TransactionState, deadline: Deadline) {
    guard let standing, let state = standing.state else {
      throw VaultError(
        .unsupported, "the transaction is in a state that this version does not know", hint: .useNewerVersion)
    }
    return (state, standing.deadline)
  }
}

extension VaultError {
  static var noTransaction: VaultError {
    VaultError(.itemNotFound, "there is no such transaction", hint: .listTransactions)
  }
}
