public import VaultKit

extension ItemKind {
  /// A transaction that a person accepts or rejects. It has no name; unique by account and label.
  public static let transaction = ItemKind(rawValue: 22)
}

extension Component {
  /// Transactions.
  package static let transaction = Component(.transaction)
}

extension KindRules {
  /// Its service is the server that sent it, and its issuer what that is called. Without its credential nothing can answer it.
  static let transaction = KindRules(
    .transaction, word: "transaction", isListedAlone: true,
    secret: .component(
      name: "a transaction",
      hint: .listTransactions),
    attributes: AttributeRules(
      hasName: false, primary: [Attribute<String>.account.code, Attribute<String>.label.code],
      fixed: [Attribute<String>.service.code, Attribute<String>.issuer.code]),
    expiry: ExpiryRules(
      isFixed: true, endsByClock: true, isForKeepingOnly: true,
      deadline: { attributes, _ in attributes.standing?.deadline }),
    policy: PolicyRules(staysHere: true), relations: Relations(belongsTo: .otp),
    operations: [
      AuditOperation.Meaning(.transactionReceived, "transactionReceived", .authFlow),
      AuditOperation.Meaning(.transactionAccepted, "transactionAccepted", .authFlow),
      AuditOperation.Meaning(.transactionRejected, "transactionRejected", .authFlow),
      AuditOperation.Meaning(.transactionCancelled, "transactionCancelled", .authFlow),
      AuditOperation.Meaning(.transactionTimedOut, "transactionTimedOut", .authFlow, isChange: false),
    ])
}

extension AuditOperation {
  /// A transaction came from the peer.
  package static let transactionReceived = AuditOperation(rawValue: 47)
  /// A person accepted a transaction.
  package static let transactionAccepted = AuditOperation(rawValue: 48)
  /// A person rejected a transaction.
  package static let transactionRejected = AuditOperation(rawValue: 49)
  /// A transaction was cancelled.
  package static let transactionCancelled = AuditOperation(rawValue: 50)
  /// Nobody answered a transaction in time.
  package static let transactionTimedOut = AuditOperation(rawValue: 51)
}

extension Hint {
  package static let listTransactions: Hint =
    "\("list the transactions", tool: "'vaultctl transaction list' shows them")"
}
