public import VaultKit

// Read in this order:
//
// - `TransactionSigner`: what an application uses. `PeerTransaction`, `TransactionDetails`, `TransactionFactor`,
//   `TransactionDecision`: what it sees. `PushPayload`: what a push message says.
// - `VaultCore+Transactions.swift`: receiving and listing. `VaultCore+Deciding.swift`: accepting, rejecting, cancelling; the
//   decision, the counter and the verdict on the PIN are one commit. `VaultCore+Telling.swift`: what the server does not have
//   yet. `OfferedTransaction.swift`: how the answer of a peer is read. `FactorLadder.swift`: how failures of a biokey lead to the PIN.
// - Below, in VaultFormat: `TransactionRecord`.

/// What a server asks a person to confirm: received, shown whole, and accepted, rejected or cancelled.
///
/// ```swift
/// let signer = TransactionSigner(vault)
/// if let asked = try await signer.pending(for: credential.id, over: transport, context: context) {
///   print(asked.context?.text ?? "")
///   try await signer.accept(asked.id, by: .biometry, over: transport, context: context)
/// }
/// ```
///
/// A transaction is stored when it is received, and its end is stored before the server is told: it is final. A decision that the
/// server does not have (``PeerTransaction/delivery``) is told at the next contact about the credential, with the same code. A
/// transaction that is not answered in time is ``TransactionState/timedOut``. It is kept for a day.
public struct TransactionSigner: Sendable {
  private let vault: Vault

  /// The transactions of a vault.
  public init(_ vault: Vault) { self.vault = vault }

  /// Asks the server of a credential for a transaction that waits for the person, and stores it. Tells the server first which
  /// decisions it does not have.
  ///
  /// - Parameters:
  ///   - credential: A credential that the server has activated.
  ///   - push: What a push message said; `nil` for the next transaction that waits.
  ///   - transport: The way to the server.
  ///   - context: Gives the passcode of a locked vault, and where the credential was activated through another transport.
  /// - Returns: `nil` if none waits. A transaction that was decided here, and that the server still offers, hides none that comes
  ///   after it. With a push message it is returned with its decision: it is not stored a second time, and its time does not
  ///   start again.
  /// - Throws: ``VaultError/Code/policy`` for a credential without a server, for another transport in a vault without a
  ///   passcode, and where 32 transactions wait whose texts must not be shown, for another one of them;
  ///   ``VaultError/Code/blocked`` and ``VaultError/Code/wrongState`` for a credential that makes no codes;
  ///   ``VaultError/Code/network``, also for an answer out of its bounds; the errors of the server.
  public func pending(
    for credential: ItemID, push: PushPayload? = nil, over transport: any Transport,
    context: AuthenticationContext? = nil
  ) async throws(VaultError) -> TransactionDetails? {
    try await vault.waiting(context) { core, context throws(VaultError) in
      try core.receiveTransaction(for: credential, push: push, over: transport, context: context)
    }
  }

  /// Asks the server of a credential for all transactions that wait for the person, and stores them. Tells the server first which
  /// decisions it does not have.
  ///
  /// - Returns: Those that wait, at most 256, in the order of the server. One that is malformed is left out.
  /// - Throws: As ``pending(for:push:over:context:)``, if none was received.
  public func allPending(
    for credential: ItemID, over transport: any Transport, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> [TransactionDetails] {
    try await vault.waiting(context) { core, context throws(VaultError) in
      let received = try core.receiveTransactions(for: credential, over: transport, context: context)
      if received.found.isEmpty, let failure = received.failure { throw failure }
      return received.found.filter { $0.transaction.status == .pending }
    }
  }

  /// The transactions that the vault keeps: those that wait first, then the others, each in the order of their arrival. Asks
  /// no person, also in a locked vault.
  public func list() async throws(VaultError) -> [PeerTransaction] { try await vault.transactions() }

  /// A transaction with its text.
  ///
  /// - Parameters:
  ///   - id: The transaction.
  ///   - context: Gives the passcode of a locked vault.
  /// - Throws: ``VaultError/Code/itemNotFound``, ``VaultError/Code/locked``.
  public func details(
    of id: ItemID, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> TransactionDetails {
    try await vault.asking(context) { core, context throws(VaultError) in
      try core.transactionDetails(of: id, context: context)
    }
  }

  /// Accepts a transaction: makes the code that signs its text, and tells the server.
  ///
  /// The prompt shows the text whole, and no earlier verification serves, whatever the `reuse` of the context. With
  /// ``TransactionFactor/device`` the person confirms it, otherwise the PIN or the biokey does. After three failures of a
  /// biokey the PIN may answer too, and after five the PIN alone does, if the transaction offers it. The person who cancels a
  /// prompt decides nothing: the transaction waits on.
  ///
  /// - Parameters:
  ///   - id: The transaction.
  ///   - factor: What accepts it: one of ``TransactionDetails/choices``; `nil` where there is one.
  ///   - transport: The way to the server.
  ///   - context: Shows the text, and gives the PIN or the phrase. For a secret that was given in advance no prompt appears,
  ///     and then the text is not shown.
  /// - Throws: ``VaultError/Code/policy`` for a factor that the transaction does not offer or the device does not have, without
  ///   one where there are several, and for the action ``TransactionAction/activate``; ``VaultError/Code/wrongState`` for a
  ///   transaction that was decided, ``VaultError/Code/expired`` for one whose time is over;
  ///   as ``OTPCredential/nextCode(by:context:)``. After the commit: the errors of the server and
  ///   ``VaultError/Code/network``, with a message that says that it is accepted here; their ``VaultError/recovery`` is never to call
  ///   again. A task that ends while the server is told gets ``VaultError/Code/appCancelled`` at once: ``list()`` says what became of
  ///   the transaction. One that was accepted, and that the server does not have, is told again: behind a camouflaged PIN that needs
  ///   the PIN.
  @discardableResult
  public func accept(
    _ id: ItemID, by factor: TransactionFactor? = nil, over transport: any Transport,
    context: AuthenticationContext? = nil
  ) async throws(VaultError) -> TransactionDecision {
    try await vault.waiting(context) { core, context throws(VaultError) in
      try core.acceptTransaction(id, by: factor, over: transport, context: context)
    }
  }

  /// Rejects a transaction, and tells the server. Uses no counter, and asks for no PIN.
  ///
  /// - Throws: As ``accept(_:by:over:context:)``, where that does not concern a code.
  @discardableResult
  public func reject(
    _ id: ItemID, over transport: any Transport, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> TransactionDecision {
    try await vault.waiting(context) { core, context throws(VaultError) in
      try core.declineTransaction(id, as: .rejected, over: transport, context: context)
    }
  }

  /// Cancels a transaction, and tells the server: the person answers it elsewhere, or not at all. As
  /// ``reject(_:over:context:)``.
  @discardableResult
  public func cancel(
    _ id: ItemID, over transport: any Transport, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> TransactionDecision {
    try await vault.waiting(context) { core, context throws(VaultError) in
      try core.declineTransaction(id, as: .cancelled, over: transport, context: context)
    }
  }
}

extension Vault {
  fileprivate func transactions() throws(VaultError) -> [PeerTransaction] { try core.transactions() }
}
