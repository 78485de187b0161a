import OneTimePassword
import VaultKit

/// What the server does not have yet: a decision is on the disk before it is told, and it is told until the server took it.
///
/// At once where the request surely did not reach the server, else at the next contact about the same credential, with the same
/// alias and the same code. A refusal of the server ends it. Behind a camouflaged PIN no code is kept: the person accepts the
/// transaction again, and the same counter gives the code.
extension VaultCore {
  /// Tells the peer each decision about the transactions of a credential that it does not have. The first request without an
  /// answer ends it: the rest is told at the next contact.
  ///
  /// - Returns: What the program should tell the person.
  func tellDecisions(
    of credential: PeerCredential, over transport: any Transport, context: AuthenticationContext?
  ) throws(VaultError) -> [OTPResult.Notice] {
    var notices: [OTPResult.Notice] = []
    for untold in try untoldDecisions(of: credential.item.id) {
      guard let answer = untold.answer else {
        if untold.needsPIN { notices.append(.decisionNeedsPIN(alias: untold.alias)) }
        continue
      }
      do throws(VaultError) {
        let isInStep = try deliver(
          answer, of: untold.id, about: credential, over: transport, context: context)
        notices += [.decisionTold(alias: untold.alias)] + (isInStep ? [] : [.synchronizationFailed])
      } catch {
        guard error.code != .appCancelled else { throw error }
        if error.refusesDecision { notices.append(.decisionRefused(alias: untold.alias)) }
        // The next one would wait as long.
        if error.code == .network { return notices }
      }
    }
    return notices
  }

  /// Tells the peer a decision that is on disk.
  ///
  /// - Returns: Whether the two sides are out of step, although the peer took the decision.
  func tell(
    _ id: ItemID, _ answer: TransportFields, about credential: PeerCredential, _ decision: TransactionState,
    over transport: any Transport, context: AuthenticationContext
  ) throws(VaultError) -> [OTPResult.Notice] {
    do throws(VaultError) {
      let isInStep = try deliver(answer, of: id, about: credential, over: transport, context: context)
      return isInStep ? [] : [.synchronizationFailed]
    } catch {
      throw try untoldError(error, id, decision)
    }
  }

  /// A transaction that was decided so, and that its peer does not have; `nil` for any other.
  func untold(_ id: ItemID, as state: TransactionState) throws(VaultError) -> PeerTransaction? {
    var transaction = try beginReading()
    let item = try transaction.item(id)
    guard try item.standing().state == state, item.attributes.delivery == .untold else { return nil }
    return try PeerTransaction(item, at: BootTime(transaction.clock))
  }

  /// Tells an acceptance that the peer does not have. Where no code is kept, the person gives the PIN again, and the same counter gives
  /// the code.
  ///
  /// - Returns: `nil` if another process has told it meanwhile.
  func tellAcceptance(
    _ untold: PeerTransaction, over transport: any Transport, context: AuthenticationContext
  ) throws(VaultError) -> TransactionDecision? {
    _ = try self.credential(of: untold)
    let credential = try activeCredential(untold.credential, over: transport, context: context)
    let asked = try transactionDetails(of: untold.id, context: context)
    guard asked.transaction.delivery == .untold else { return nil }
    guard let kept = asked.record.answer, let factor = TransactionFactor.factors(in: kept.factor).first else {
      throw VaultError(.damaged, "the transaction lacks what its server is to get", hint: .verifyAndRestore)
    }
    var code = CodeForPeer(code: kept.code ?? "", counter: kept.counter)
    if kept.code == nil {
      let purpose = CodePurpose(isOnline: true, action: "accept the transaction", counter: kept.counter)
      let question =
        if let suite = try credential.item.suite { try suite.question(of: asked.context) } else {
          nil as OCRAQuestion?
        }
      let showing = asked.context.map(context.showing) ?? context.forOneDecision
      code = try self.code(of: credential.item, for: question, by: .current, for: purpose, context: showing)
    }
    let answer = UntoldDecision.acceptance(untold.alias, factor, code)
    let told = try tell(untold.id, answer, about: credential, .accepted, over: transport, context: context)
    return TransactionDecision(
      transaction: try transactionSummary(of: untold.id), factor: factor, notices: code.notices + told)
  }

  // MARK: Steps

  /// Sends a decision, a second time if it surely did not reach the peer, and records what became of it.
  ///
  /// - Returns: Whether the two sides are in step.
  private func deliver(
    _ answer: TransportFields, of id: ItemID, about credential: PeerCredential, over transport: any Transport,
    context: AuthenticationContext?
  ) throws(VaultError) -> Bool {
    var isInStep = true
    do throws(VaultError) {
      do throws(VaultError) {
        _ = try exchange(.transactionAnswer, about: credential, answer, over: transport, context: context)
      } catch {
        guard error.isUnsent else { throw error }
        _ = try exchange(.transactionAnswer, about: credential, answer, over: transport, context: context)
      }
    } catch {
      if error.refusesDecision { record(error, of: id) }
      guard error.isSynchronizationFailure else { throw error }
      isInStep = false
    }
    record(nil, of: id)
    return isInStep
  }

  /// Records what the peer answered, and deletes the code. Where that fails (the vault was locked meanwhile, the disk is full), the
  /// decision stays in the list of those that the peer does not have, and is told again: that changes nothing at the peer.
  ///
  /// - Parameter refusal: `nil` if the peer took the decision.
  private func record(_ refusal: VaultError?, of id: ItemID) {
    try? tryToRecord(refusal, of: id)
  }

  private func tryToRecord(_ refusal: VaultError?, of id: ItemID) throws(VaultError) {
    var transaction = try beginWriting()
    guard let item = try transaction.items(matching: Query(id: id)).first,
      item.attributes.delivery == .untold
    else { return }
    let state = try item.standing().state
    if state == .accepted {
      var record = try TransactionRecord(transaction.useSecret(of: item, by: .transaction))
      record.answer = nil
      _ = try transaction.update(id, ItemChanges(), secret: record.data, by: .transaction)
    }
    try transaction.setDelivery(refusal == nil ? .told : .refused, of: id)
    if let refusal {
      try transaction.log(
        state.operation, item: item, result: refusal.auditResult, detail: "the server refused it")
    }
    try transaction.commit()
  }

  /// Those of a credential, in the order in which their codes were made. What does not open is no obstacle for the others.
  private func untoldDecisions(of credential: ItemID) throws(VaultError) -> [UntoldDecision] {
    var transaction = try beginReading()
    let items = try transaction.items(matching: .transactions(of: credential), damaged: { _, _ in })
      .filter { $0.attributes.delivery == .untold }
    let found = items.compactMap { item in
      let record = try? TransactionRecord(transaction.useSecret(of: item, by: .transaction).secret)
      return UntoldDecision(item, record)
    }
    transaction.end()
    return found.sorted { ($0.counter ?? 0) < ($1.counter ?? 0) }
  }

  /// The error of a decision that the peer does not have, or refused. What was committed is not committed again, so the same call is no
  /// way out.
  private func untoldError(
    _ error: VaultError, _ id: ItemID, _ decision: TransactionState
  ) throws(VaultError) -> VaultError {
    guard error.code != .appCancelled else { return error.final() }
    let decided = "the transaction is \(decision.word) here"
    guard !error.refusesDecision else {
      return VaultError(
        error.code, "\(decided) for good, but the server refuses that: \(error.message)",
        hint: error.advice ?? "look with the server what became of it", attemptsLeft: error.attemptsLeft,
        underlying: error.underlying
      ).final()
    }
    let later = Hint.receiveTransactions
    let needsPIN = try untoldNeedsPIN(id)
    return VaultError(
      error.code, "\(decided) for good, and the server does not know that yet: \(error.message)",
      hint: needsPIN
        ? .acceptAgain
        : error.code == .blocked ? error.advice ?? later : later,
      attemptsLeft: error.attemptsLeft, underlying: error.underlying
    ).final()
  }

  private func untoldNeedsPIN(_ id: ItemID) throws(VaultError) -> Bool {
    try untoldDecisions(of: transactionSummary(of: id).credential).contains { $0.id == id && $0.needsPIN }
  }
}

/// A decision that a peer does not have.
struct UntoldDecision {
  let id: ItemID
  let alias: String
  let counter: UInt64?
  /// Whether no code is kept, so that the PIN is needed again.
  let needsPIN: Bool
  /// What the peer is to get; `nil` if that needs the PIN, or does not open.
  let answer: TransportFields?

  /// - Parameter record: `nil` if it does not open.
  fileprivate init?(_ item: Item, _ record: TransactionRecord?) {
    guard let state = item.attributes.standing?.state, let alias = item.attributes[.label] else { return nil }
    (id, self.alias) = (item.id, alias)
    guard state == .accepted else {
      (counter, needsPIN, answer) = (nil, false, Self.refusal(alias, as: state))
      return
    }
    let kept = record?.answer
    counter = kept?.counter
    needsPIN = kept.map { $0.code == nil } ?? false
    let factor = kept.flatMap { TransactionFactor.factors(in: $0.factor).first }
    answer =
      if let code = kept?.code, let factor {
        Self.acceptance(alias, factor, CodeForPeer(code: code, counter: kept?.counter))
      } else { nil }
  }

  static func acceptance(_ alias: String, _ factor: TransactionFactor, _ code: CodeForPeer) -> TransportFields
  {
    var answer = TransportFields()
    answer["alias"] = .text(alias)
    answer["decision"] = .text("accept")
    answer["type"] = .text(factor.rawValue)
    code.write(to: &answer)
    return answer
  }

  static func refusal(_ alias: String, as state: TransactionState) -> TransportFields {
    var answer = TransportFields()
    answer["alias"] = .text(alias)
    answer["decision"] = .text(state == .rejected ? "reject" : "cancel")
    return answer
  }
}

extension VaultError {
  /// Whether a peer that answered so does not take the decision, now or later. What passes is no refusal: no answer, a block, two sides
  /// that are out of step, and whatever has no word of its own, such as a proxy in front of a peer.
  fileprivate var refusesDecision: Bool {
    switch code {
    case .authenticationFailed, .malformed, .policy, .wrongState, .deviceUnknown, .pinReused, .pinRefused,
      .expired, .biokeyLocked:
      true
    default: false
    }
  }
}
