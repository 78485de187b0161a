import OneTimePassword
package import VaultKit

/// Decisions about transactions on the synchronous core.
extension VaultCore {
  /// Accepts a transaction. The commit of the code and of the verdict on the PIN accepts it; then the peer is told.
  package func acceptTransaction(
    _ id: ItemID, by factor: TransactionFactor? = nil, over transport: any Transport,
    context: AuthenticationContext
  ) throws(VaultError) -> TransactionDecision {
    let asked = try pendingTransaction(id, context: context)
    guard asked.action != .activate else {
      throw VaultError(
        .policy, "the server wants an activation, which is not accepted but made with its code",
        hint: Hint(.activateCredential, saying: "activate a credential with the server's code"))
    }
    _ = try credential(of: asked.transaction)
    let factor = try asked.chosen(isBiokeyLocked(factor, for: asked) ? .pin : factor)
    let credential = try activeCredential(asked.transaction.credential, over: transport, context: context)
    let showing = asked.context.map(context.showing) ?? context.forOneDecision
    let made = try acceptingCode(for: asked, by: factor, of: credential, context: showing)
    var answer = TransportFields()
    answer["alias"] = .text(asked.transaction.alias)
    answer["decision"] = .text("accept")
    answer["type"] = .text(made.factor.rawValue)
    made.code.write(to: &answer)
    let told = try tell(answer, about: credential, .accepted, over: transport, context: context)
    return TransactionDecision(
      transaction: try transactionSummary(of: id), factor: made.factor, notices: made.code.notices + told)
  }

  /// Rejects or cancels a transaction: stored, then the peer is told. No counter and no attempt is used.
  package func declineTransaction(
    _ id: ItemID, as state: TransactionState, over transport: any Transport, context: AuthenticationContext
  ) throws(VaultError) -> TransactionDecision {
    let asked = try transactionSummary(of: id)
    let credential = try permit(
      transport, for: PeerCredential(credential(of: asked)), context: context)
    try notingTimeout(of: id) { () throws(VaultError) in
      try using(context) { () throws(VaultError) in
        try writing { transaction throws(VaultError) in try transaction.decide(state, on: id) }
      }
    }
    var answer = TransportFields()
    answer["alias"] = .text(asked.alias)
    answer["decision"] = .text(state == .rejected ? "reject" : "cancel")
    let told = try tell(answer, about: credential, state, over: transport, context: context)
    return TransactionDecision(transaction: try transactionSummary(of: id), factor: nil, notices: told)
  }

  /// Whether the failures of the chosen biokey lead to the PIN at once: they are stored, so another process goes on with them.
  private func isBiokeyLocked(
    _ factor: TransactionFactor?, for asked: TransactionDetails
  ) throws(VaultError) -> Bool {
    guard factor == .biometry, asked.offered.contains(.biometry), asked.choices.contains(.pin),
      let pin = try credential(of: asked.transaction).guardingPIN(), let biokey = try biokey(of: pin)
    else { return false }
    return try attemptsLeft(ofBiokey: biokey) == 0
  }

  /// A transaction that waits. Nothing was asked or derived for one that does not.
  private func pendingTransaction(
    _ id: ItemID, context: AuthenticationContext
  ) throws(VaultError) -> TransactionDetails {
    try notingTimeout(of: id) { () throws(VaultError) in
      try reading { transaction throws(VaultError) in
        try transaction.item(id).refuseUnlessPending(BootTime(transaction.clock))
      }
    }
    return try transactionDetails(of: id, context: context)
  }

  private func acceptingCode(
    for asked: TransactionDetails, by factor: TransactionFactor, of credential: PeerCredential,
    context: AuthenticationContext
  ) throws(VaultError) -> (code: CodeForPeer, factor: TransactionFactor) {
    let followsPIN = asked.offered.contains(.pin) && credential.takesPIN
    let ladder = factor == .biometry && followsPIN ? FactorLadder() : nil
    let action = "accept the transaction"
    let purpose = CodePurpose(isOnline: true, action: action, ladder: ladder) {
      transaction throws(VaultError) in
      // The code may be another credential's, and the person may have taken long.
      try transaction.reading.refuseInactive(credential.item)
      try transaction.decide(.accepted, on: asked.id)
    }
    var signer = credential.item
    if factor == .device {
      guard let device = try deviceCredential(of: signer) else { throw .absent(.device) }
      signer = device
    }
    try refuseUnusable(signer.id)
    if factor == .device { try askAcceptance(to: action, with: signer, context: context) }
    let factors: PINFactors =
      ladder != nil ? [.current, .biometric] : factor == .biometry ? .biometric : .current
    let made = try notingTimeout(of: asked.id) { () throws(VaultError) -> CodeForPeer in
      let question = try signer.suite.map { (suite) throws(VaultError) in
        try suite.question(of: asked.context)
      }
      return try code(of: signer, for: question, by: factors, for: purpose, context: context)
    }
    return (made, ladder?.shown == .current ? .pin : factor)
  }

  /// Tells the peer a decision that is on disk.
  ///
  /// - Returns: Whether the two sides are out of step, although the peer took the decision.
  private func tell(
    _ answer: TransportFields, about credential: PeerCredential, _ decision: TransactionState,
    over transport: any Transport, context: AuthenticationContext
  ) throws(VaultError) -> [OTPResult.Notice] {
    do throws(VaultError) {
      _ = try exchange(.transactionAnswer, about: credential, answer, over: transport, context: context)
      return []
    } catch {
      guard !error.isSynchronizationFailure else { return [.synchronizationFailed] }
      throw VaultError(
        error.code,
        "the transaction is \(decision.word) here for good, but the server did not take the answer: \(error.message)",
        hint: "look with the server; if it still waits, let it lapse there", attemptsLeft: error.attemptsLeft,
        underlying: error.underlying)
    }
  }

  private func transactionSummary(of id: ItemID) throws(VaultError) -> PeerTransaction {
    try reading { transaction throws(VaultError) in
      try PeerTransaction(transaction.item(id), at: BootTime(transaction.clock))
    }
  }

  /// - Throws: ``VaultError/Code/itemNotFound`` if it was deleted, or replaced by a new activation.
  private func credential(of asked: PeerTransaction) throws(VaultError) -> Item {
    guard let item = try items(matching: Query(id: asked.credential)).first else {
      throw VaultError(
        .itemNotFound, "the credential of the transaction is gone",
        hint: "let the transaction lapse, and have the other side ask again")
    }
    return item
  }

  /// Records the end of the time, where that is the error.
  private func notingTimeout<R>(
    of id: ItemID, _ body: () throws(VaultError) -> R
  ) throws(VaultError) -> R {
    do throws(VaultError) { return try body() } catch {
      if error.code == .expired { noteTimeouts(of: [id]) }
      throw error
    }
  }
}

extension OCRASuite {
  /// The question that signs a text; none is empty data.
  fileprivate func question(of text: ShownText?) throws(VaultError) -> OCRAQuestion {
    let bytes = Array((text?.text ?? "").utf8)
    return try otp { () throws(OTPError) in try unsafe OCRAQuestion(data: bytes.span.bytes, for: self) }
  }
}

extension WriteTransaction {
  /// Ends a transaction that waits.
  ///
  /// - Throws: ``VaultError/Code/wrongState``, ``VaultError/Code/expired``.
  fileprivate mutating func decide(_ decision: TransactionState, on id: ItemID) throws(VaultError) {
    let item = try item(id)
    try item.refuseUnlessPending(BootTime(reading.clock))
    try end(item, as: decision)
  }
}

extension Item {
  /// - Throws: ``VaultError/Code/wrongState`` after a decision, ``VaultError/Code/expired`` after the deadline.
  fileprivate func refuseUnlessPending(_ now: BootTime) throws(VaultError) {
    let (state, deadline) = try standing()
    guard state != .timeout, state != .pending || deadline.secondsLeft(now) > 0 else {
      throw VaultError(
        .expired, "the transaction was not answered in time", hint: "have the other side ask again")
    }
    guard state == .pending else {
      throw VaultError(
        .wrongState, "the transaction is \(state.word) already, and that is final",
        hint: Hint(.listTransactions, saying: "list the transactions"))
    }
  }
}

extension TransactionState {
  fileprivate var word: String {
    switch self {
    case .pending: "pending"
    case .accepted: "accepted"
    case .rejected: "rejected"
    case .cancelled: "cancelled"
    case .timeout: "timed out"
    }
  }
}
