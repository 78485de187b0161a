import OneTimePassword
package import VaultKit

/// Decisions about transactions on the synchronous core.
extension VaultCore {
  /// Accepts a transaction. The commit of the code and of the verdict on the PIN accepts it; then the peer is told. One that was accepted
  /// and that the peer does not have is told again.
  package func acceptTransaction(
    _ id: ItemID, by factor: TransactionFactor? = nil, over transport: any Transport,
    context: AuthenticationContext
  ) throws(VaultError) -> TransactionDecision {
    if let untold = try untold(id, as: .accepted),
      let told = try tellAcceptance(untold, over: transport, context: context)
    {
      return told
    }
    let asked = try pendingTransaction(id, context: context)
    if let flaw = asked.whyTextIsHidden {
      throw VaultError(
        .policy, "the text of the transaction \(flaw): a person could not see what it says",
        hint: "reject it, and have the other side send a text whose characters all show")
    }
    guard asked.action != .activate else {
      throw VaultError(
        .policy, "the server wants an activation, which is not accepted but made with its code",
        hint: .activateCredential)
    }
    _ = try credential(of: asked.transaction)
    let factor = try asked.chosen(isBiokeyLocked(factor, for: asked) ? .pin : factor)
    let credential = try activeCredential(asked.transaction.credential, over: transport, context: context)
    // A peer that counts may take no code of a smaller counter after a larger one, so what it does not have goes first.
    let before = try tellDecisions(of: credential, over: transport, context: context)
    let showing = asked.context.map(context.showing) ?? context.forOneDecision
    let made = try acceptingCode(for: asked, by: factor, of: credential, context: showing)
    let answer = UntoldDecision.acceptance(asked.transaction.alias, made.factor, made.code)
    let told = try tell(id, answer, about: credential, .accepted, over: transport, context: context)
    return TransactionDecision(
      transaction: try transactionSummary(of: id), factor: made.factor,
      notices: before + made.code.notices + told)
  }

  /// Rejects or cancels a transaction: stored, then the peer is told. No counter and no attempt is used.
  package func declineTransaction(
    _ id: ItemID, as state: TransactionState, over transport: any Transport, context: AuthenticationContext
  ) throws(VaultError) -> TransactionDecision {
    let asked = try transactionSummary(of: id)
    let credential = try permit(
      transport, for: PeerCredential(credential(of: asked)), context: context)
    if try untold(id, as: state) == nil {
      try notingTimeout(of: id) { () throws(VaultError) in
        var transaction = try beginWriting(.free, context: context)
        try transaction.decide(state, on: id)
        try transaction.commit()
      }
    }
    let answer = UntoldDecision.refusal(asked.alias, as: state)
    let told = try tell(id, answer, about: credential, state, over: transport, context: context)
    let others = try tellDecisions(of: credential, over: transport, context: context)
    return TransactionDecision(
      transaction: try transactionSummary(of: id), factor: nil, notices: told + others)
  }

  /// Whether the failures of the chosen biokey lead to the PIN at once: they are stored, so another process goes on with them.
  private func isBiokeyLocked(
    _ factor: TransactionFactor?, for asked: TransactionDetails
  ) throws(VaultError) -> Bool {
    guard factor == .biometry, asked.offered.contains(.biometry), asked.choices.contains(.pin),
      let pin = try credential(of: asked.transaction).guardingPIN(), let biokey = try biokey(of: pin)
    else { return false }
    return try biometryAttemptsLeft(of: biokey) == 0
  }

  /// A transaction that waits. Nothing was asked or derived for one that does not.
  private func pendingTransaction(
    _ id: ItemID, context: AuthenticationContext
  ) throws(VaultError) -> TransactionDetails {
    try notingTimeout(of: id) { () throws(VaultError) in
      var transaction = try beginReading()
      return try transaction.item(id).refuseUnlessPending(BootTime(transaction.clock))
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
    // The code of a PIN that may be another's is not stored: it would tell the PIN.
    let guarding = factor == .device ? nil : try credential.item.guardingPIN()
    let isKept = guarding?.mode != .camouflaged
    let purpose = CodePurpose(isOnline: true, action: action, ladder: ladder) {
      (transaction, made) throws(VaultError) in
      // The code may be another credential's, and the person may have taken long.
      try transaction.reading.refuseInactive(credential.item)
      try transaction.decide(.accepted, on: asked.id)
      let shown: TransactionFactor = ladder?.shown == .current ? .pin : factor
      let answer = TransactionRecord.Answer(
        factor: shown.bit, code: isKept ? made.code : nil, counter: made.counter)
      try transaction.keep(answer, of: asked)
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

  func transactionSummary(of id: ItemID) throws(VaultError) -> PeerTransaction {
    var transaction = try beginReading()
    return try PeerTransaction(transaction.item(id), at: BootTime(transaction.clock))
  }

  /// - Throws: ``VaultError/Code/itemNotFound`` if it was deleted, or replaced by a new activation.
  func credential(of asked: PeerTransaction) throws(VaultError) -> Item {
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
  func question(of text: ShownText?) throws(VaultError) -> OCRAQuestion {
    let bytes = Array((text?.text ?? "").utf8)
    return try otp { () throws(OTPError) in try OCRAQuestion(data: bytes.span, for: self) }
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

  /// Stores what the peer is to get, until it has it.
  fileprivate mutating func keep(
    _ answer: TransactionRecord.Answer, of asked: TransactionDetails
  ) throws(VaultError) {
    var record = asked.record
    record.answer = answer
    _ = try update(asked.id, ItemChanges(), secret: record.data, by: .transaction)
  }
}

extension Item {
  /// - Throws: ``VaultError/Code/wrongState`` after a decision, ``VaultError/Code/expired`` after the deadline.
  fileprivate func refuseUnlessPending(_ now: BootTime) throws(VaultError) {
    let (state, deadline) = try standing()
    guard state != .timedOut, state != .pending || deadline.secondsLeft(now) > 0 else {
      throw VaultError(
        .expired, "the transaction was not answered in time", hint: "have the other side ask again")
    }
    guard state == .pending else {
      throw VaultError(
        .wrongState, "the transaction is \(state.word) already, and that is final", hint: .listTransactions)
    }
  }
}

extension TransactionState {
  var word: String {
    switch self {
    case .pending: "pending"
    case .accepted: "accepted"
    case .rejected: "rejected"
    case .cancelled: "cancelled"
    case .timedOut: "timed out"
    }
  }
}
