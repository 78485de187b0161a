package import VaultKit

/// Transactions on the synchronous core: received, listed, shown. ``TransactionSigner`` offers the same on the actor.
extension VaultCore {
  /// Asks the peer of a credential for a transaction, and stores it. What was decided here, and is still offered, hides none that
  /// comes after it.
  ///
  /// - Parameter push: `nil` for the next one that waits for the person.
  package func receiveTransaction(
    for id: ItemID, push: PushPayload? = nil, over transport: any Transport, context: AuthenticationContext
  ) throws(VaultError) -> TransactionDetails? {
    guard let push else {
      let received = try receiveTransactions(for: id, untilPending: true, over: transport, context: context)
      if let found = received.found.first(where: { $0.transaction.status == .pending }) { return found }
      if let failure = received.failure { throw failure }
      return nil
    }
    let credential = try receivingCredential(id, over: transport, context: context)
    _ = try tellDecisions(of: credential, over: transport, context: context)
    guard let fields = try askForTransaction(push, about: credential, over: transport, context: context)
    else { return nil }
    guard let found = try store(fields, push: push, for: credential, context: context) else {
      throw VaultError(
        .policy, "too many transactions wait whose texts must not be shown", hint: "reject them first")
    }
    return found
  }

  /// Asks the peer of a credential for each transaction that waits, one after the other, and stores them.
  ///
  /// - Parameter untilPending: Whether one that waits for the person ends the search.
  package func receiveTransactions(
    for id: ItemID, untilPending: Bool = false, over transport: any Transport, context: AuthenticationContext
  ) throws(VaultError) -> ReceivedTransactions {
    let credential = try receivingCredential(id, over: transport, context: context)
    var received = ReceivedTransactions()
    received.notices = try tellDecisions(of: credential, over: transport, context: context)
    var aliases: [String] = []
    while aliases.count < ReceivedTransactions.most {
      let (fields, alias): (TransportFields, String)
      do throws(VaultError) {
        guard
          let next = try askForTransaction(
            after: aliases.last, about: credential, over: transport, context: context)
        else { return received }
        (fields, alias) = (next, try OfferedTransaction.alias(of: next))
      } catch {
        // What was received is there.
        guard !aliases.isEmpty, error.code != .appCancelled else { throw error }
        received.failure = received.failure ?? error
        return received
      }
      // A peer that does not know how to go on begins again.
      guard !aliases.contains(alias) else {
        received.mayHaveMore = true
        return received
      }
      aliases.append(alias)
      do throws(VaultError) {
        guard let found = try store(fields, for: credential, context: context) else {
          received.notKept += 1
          continue
        }
        received.found.append(found)
        if untilPending, found.transaction.status == .pending { return received }
      } catch {
        guard error.concernsOneTransaction else { throw error }
        received.failure = received.failure ?? error
      }
    }
    received.mayHaveMore = true
    return received
  }

  /// A credential whose peer may be asked for transactions. They are opened at once, so a locked vault is unlocked before the peer is
  /// asked.
  private func receivingCredential(
    _ id: ItemID, over transport: any Transport, context: AuthenticationContext
  ) throws(VaultError) -> PeerCredential {
    let credential = try activeCredential(id, over: transport, context: context)
    let access = AccessControl(credential.item.access.accessibility, thisDeviceOnly: true)
    try permitAdding(NewItem(.transaction, access: access), by: .transaction, context: context)
    return credential
  }

  /// Stores a transaction, unless it is there.
  ///
  /// - Returns: `nil` for one whose text must not be shown if many of those wait.
  private func store(
    _ fields: TransportFields, push: PushPayload? = nil, for credential: PeerCredential,
    context: AuthenticationContext
  ) throws(VaultError) -> TransactionDetails? {
    let item = credential.item
    let offered = try OfferedTransaction(fields, push: push)
    let deadline = try Deadline(seconds: offered.lifeSeconds, clock: environment.clock)
    let access = AccessControl(item.access.accessibility, thisDeviceOnly: true)
    var transaction = try beginWriting(
      .add(NewItem(.transaction, access: access), by: .transaction), context: context)
    let stored = try transaction.store(offered, for: item, deadline: deadline)
    try transaction.commit()
    guard let stored else { return nil }
    return try transactionDetails(of: stored, context: context)
  }

  /// - Returns: `nil` if none waits. `OTHER` says that too, as authenticator systems have it.
  private func askForTransaction(
    _ push: PushPayload? = nil, after alias: String? = nil, about credential: PeerCredential,
    over transport: any Transport, context: AuthenticationContext
  ) throws(VaultError) -> TransportFields? {
    var fields = TransportFields()
    if let push { fields["alias"] = .text(push.alias) }
    if let action = push?.action { fields["type"] = .text(action.rawValue) }
    if let alias { fields["after"] = .text(alias) }
    do throws(VaultError) {
      return try exchange(.transactionNext, about: credential, fields, over: transport, context: context)
        .fields("transaction")
    } catch {
      guard error.code == .peerFailed else { throw error }
      return nil
    }
  }

  /// The transactions that have not expired. Those that wait come first. Opens no secret.
  ///
  /// - Parameter damaged: Called with each that does not open, and the reason. Without it, such a transaction is an error.
  package func transactions(
    matching query: Query = Query(.transaction), damaged: ((ItemID, VaultError) -> Void)? = nil
  ) throws(VaultError) -> [PeerTransaction] {
    var transaction = try beginReading()
    let time = KeptTime(transaction)
    var (pending, others): ([PeerTransaction], [PeerTransaction]) = ([], [])
    let items = try transaction.items(matching: query, keepingPages: false, damaged: damaged)
    pending.reserveCapacity(items.count)
    for item in items where (try? time.isOver(item)) != true {
      do throws(VaultError) {
        let found = try PeerTransaction(item, at: time.sinceBoot)
        if found.status == .pending { pending.append(consume found) } else { others.append(consume found) }
      } catch { guard error.code == .unsupported else { throw error } }
    }
    transaction.end()
    guard !others.isEmpty else { return pending }
    noteTimeouts(of: others.filter(\.hasLapsed).map(\.id))
    return pending + others
  }

  /// A transaction with its text.
  package func transactionDetails(
    of id: ItemID, context: AuthenticationContext? = nil
  ) throws(VaultError) -> TransactionDetails {
    var reading = try beginReading(.secret(.use, of: id, by: .transaction), context: context) {
      (look) throws(VaultError) in _ = try PeerTransaction(look.item(id), at: BootTime(look.clock))
    }
    let item = try reading.item(id)
    let transaction = try PeerTransaction(item, at: BootTime(reading.clock))
    let record = try TransactionRecord(reading.useSecret(of: item, by: .transaction).secret)
    reading.end()
    if transaction.hasLapsed { noteTimeouts(of: [id]) }
    guard record.credential == transaction.credential,
      let action = TransactionAction.allCases.first(where: { $0.number == record.action })
    else {
      throw VaultError(.damaged, "a transaction names two credentials, or no action", hint: .verifyAndRestore)
    }
    let offered = TransactionFactor.factors(in: record.factors)
    let (text, flaw) = record.shownText(item.attributes.hiddenText)
    return TransactionDetails(
      transaction: transaction, action: action, context: text, whyTextIsHidden: flaw, offered: offered,
      choices: action == .activate || flaw != nil ? [] : try choices(of: offered, for: item), record: record)
  }

  /// Records that they were not answered in time. A vault that cannot be written shows it without the record, as one does whose
  /// boot cannot be told.
  func noteTimeouts(of ids: [ItemID]) {
    guard !ids.isEmpty, !isReadOnly, environment.clock.bootID() != nil else { return }
    try? recordTimeouts(of: ids)
  }

  private func recordTimeouts(of ids: [ItemID]) throws(VaultError) {
    var transaction = try beginWriting()
    let now = BootTime(transaction.reading.clock)
    for id in ids {
      // One that was deleted meanwhile, or does not open any more, keeps no other from being recorded.
      guard let item = try? transaction.item(id), (try? PeerTransaction(item, at: now))?.hasLapsed == true
      else { continue }
      try transaction.end(item, as: .timedOut)
    }
    try transaction.commit()
  }

  /// The credentials that were activated through a transport and that make codes. Device credentials have no peer of their own.
  ///
  /// - Parameter damaged: Called with each credential that does not open, and the reason. Without it, such a one is an error.
  package func credentials(
    over transport: any Transport, damaged: ((ItemID, VaultError) -> Void)? = nil
  ) throws(VaultError) -> [Item] {
    var transaction = try beginReading()
    let all = try transaction.items(matching: Query(.otp), damaged: damaged).filter {
      $0.attributes[.transport] == transport.identity && $0.attributes[.peer] != nil
    }
    var active: [Item] = []
    for item in all {
      // Its own state, or that of its PIN.
      var id = item.id
      do throws(VaultError) {
        _ = try transaction.state(of: id)
        id = item.policy.guardingPINItem ?? id
        if try transaction.effectiveState(of: item) == .active { active.append(item) }
      } catch {
        // A PIN item stays as long as a credential is behind it.
        guard [.damaged, .itemNotFound].contains(error.code), let damaged else { throw error }
        damaged(id, error.code == .damaged ? error : VaultError(.damaged, "the PIN item is missing"))
      }
    }
    return active
  }

  /// A credential that a peer has activated and that makes codes, whose peer this transport may ask.
  func activeCredential(
    _ id: ItemID, over transport: any Transport, context: AuthenticationContext
  ) throws(VaultError) -> PeerCredential {
    var transaction = try beginReading()
    let credential = try PeerCredential(transaction.item(id))
    try transaction.refuseInactive(credential.item)
    transaction.end()
    return try permit(transport, for: credential, context: context)
  }
}

extension TransactionRecord {
  /// The text, or why it must not be shown. The attribute says it in lists; here the text itself is looked at.
  fileprivate func shownText(_ listed: HiddenText?) -> (ShownText?, flaw: String?) {
    guard !isCut, listed != .isTooLong else { return (nil, "has more than 4,096 bytes") }
    guard !context.isEmpty else { return (nil, nil) }
    do throws(VaultError) { return (try ShownText(context), nil) } catch {
      let flaw = context.split(separator: "\n" as Character).lazy.compactMap { VisibleText.flaw(inWhole: $0) }
      return (nil, flaw.first ?? "has a character that does not show")
    }
  }
}

extension ReadTransaction {
  /// Whether another transaction can be stored whose text must not be shown.
  fileprivate mutating func hasRoomForHidden(of credential: Item) throws(VaultError) -> Bool {
    let now = BootTime(clock)
    let all = try items(matching: .transactions(of: credential.id), damaged: { _, _ in })
    let hidden = all.filter {
      $0.attributes.hiddenText != nil && (try? PeerTransaction($0, at: now))?.status == .pending
    }
    return hidden.count < ReceivedTransactions.mostHidden
  }
}

/// The clocks by which transactions are kept for a day, read once for a list of many.
private struct KeptTime {
  let sinceBoot: BootTime
  private let wall: Instant
  private let recorded: Instant

  init(_ transaction: borrowing ReadTransaction) {
    sinceBoot = BootTime(transaction.clock)
    (wall, recorded) = (transaction.expiryTime, transaction.deletionTime)
  }

  /// Whether a transaction has been kept for its day. Within its boot, the wall clock and the clock since boot have to say so: a
  /// process can give itself another one of each. In another boot, and without a deadline, the recorded time says it.
  ///
  /// - Throws: ``VaultError/Code/expired`` while only the wall clock says it: what was decided could be decided again.
  func isOver(_ item: Item) throws(VaultError) -> Bool {
    guard let expires = item.expires, expires <= wall else { return false }
    let isSure =
      if let deadline = item.attributes.standing?.deadline, deadline.boot == sinceBoot.boot {
        deadline.milliseconds.addingDay <= sinceBoot.milliseconds
      } else { sinceBoot.boot != nil && expires <= recorded }
    guard !isSure else { return true }
    throw VaultError(
      .expired, "the clock says that the transaction is more than a day old, and may be wrong",
      hint: "set the clock right: it is believed after two days, or after a restart of the machine")
  }
}

extension UInt64 {
  /// Milliseconds, a day later.
  fileprivate var addingDay: UInt64 {
    let (sum, isBeyond) = addingReportingOverflow(24 * 3600 * 1000)
    return isBeyond ? .max : sum
  }
}

extension WriteTransaction {
  /// Records what became of a transaction that waits, once: the caller has looked that it does.
  mutating func end(_ item: Item, as state: TransactionState) throws(VaultError) {
    let isDecision = [.accepted, .rejected, .cancelled].contains(state)
    try setStanding(
      TransactionStanding(state, until: try item.standing().deadline), delivery: isDecision ? .untold : .told,
      of: item.id)
    try log(state.operation, item: item)
  }
}

extension TransactionState {
  /// The entry of the log about an end.
  var operation: AuditOperation {
    switch self {
    case .accepted: .transactionAccepted
    case .rejected: .transactionRejected
    case .timedOut: .transactionTimedOut
    case .pending, .cancelled: .transactionCancelled
    }
  }
}

extension WriteTransaction {
  /// - Returns: As ``VaultCore/store(_:push:for:context:)``.
  fileprivate mutating func store(
    _ offered: OfferedTransaction, for item: Item, deadline: Deadline
  ) throws(VaultError) -> ItemID? {
    let all = try items(matching: .transactions(alias: offered.alias))
    if let present = all.first(where: { $0.attributes[.credential] == item.id.bytes }) {
      guard try KeptTime(reading).isOver(present) else { return present.id }
      try destroy(present.id)
    }
    if offered.text.whyHidden != nil {
      guard try reading.hasRoomForHidden(of: item) else { return nil }
    }
    let new = offered.item(for: item, now: reading.expiryTime, deadline: deadline)
    let added = try add(new, secret: offered.record(for: item).data, by: .transaction)
    try log(.transactionReceived, item: added)
    return added.id
  }
}
