package import VaultKit

/// What both sides of a consent have: attempts, resends, and its end.
extension WriteTransaction {
  /// Counts an attempt, before its code is judged or sent.
  ///
  /// - Returns: How many attempts are left, if this one is wrong.
  mutating func countAttempt(of id: ItemID) throws(VaultError) -> Int {
    try refuseUnlessRequested(id)
    var held = try heldState(of: id)
    guard held.state.failures < CardConsent.mostAttempts else { throw .consentFailed }
    held.state.failures += 1
    try keep(held)
    return Int(CardConsent.mostAttempts - held.state.failures)
  }

  /// Counts a resend, before the code is sent.
  ///
  /// - Throws: ``VaultError/Code/policy``.
  mutating func countResend(of id: ItemID) throws(VaultError) {
    try refuseUnlessRequested(id)
    let now = reading.clock.bootMilliseconds()
    var held = try heldState(of: id)
    guard held.state.resends < CardConsent.mostResends else {
      throw VaultError(.policy, "the code was sent again three times already", hint: .requestConsent)
    }
    let next = held.state.lastResend + ItemState.resendPause
    guard held.state.resends == 0 || now >= next else {
      throw VaultError(
        .policy, "the code was sent again a moment ago, and that is done once in 30 seconds",
        hint: "wait for the code that is on its way", retryAfter: .milliseconds(Int64(next - now)))
    }
    held.state.resends += 1
    held.state.lastResend = now
    try keep(held)
    try log(.consentSentAgain, item: item(id))
  }

  /// Records a wrong code. The last one ends the consent.
  mutating func noteWrongCode(of id: ItemID, left: Int, result: AuditResult) throws(VaultError) {
    let item = try item(id)
    try log(.consentConfirmed, item: item, result: result)
    if left == 0 { try end(item, as: .failed, detail: "no attempt is left") }
  }

  /// - Throws: ``VaultError/Code/expired``, ``VaultError/Code/wrongState``.
  mutating func refuseUnlessRequested(_ id: ItemID) throws(VaultError) {
    try reading.refuseUnlessRequested(item(id))
  }

  /// Ends the other consents of a session: there is one for each.
  mutating func endConsents(of session: [UInt8]?) throws(VaultError) {
    guard let session else { return }
    for other in try itemsWithLife() where other.tokenLife?.session == session {
      guard other.kind == .consent else { continue }
      try end(other, detail: "another consent of its session was requested")
    }
  }

  /// Ends the tokens that consents of a session gave.
  mutating func endGivenTokens(of session: [UInt8]?) throws(VaultError) {
    guard let session else { return }
    for token in try itemsWithLife() where token.tokenLife?.session == session {
      guard token.kind == .cardToken, token.attributes[.credential] != nil else { continue }
      try end(token, operation: .tokenRevoked, detail: "another consent of its session gave a new one")
    }
  }
}

extension ReadTransaction {
  /// - Throws: ``VaultError/Code/expired``, ``VaultError/Code/wrongState``; ``VaultError/Code/itemNotFound`` after a day;
  ///   ``VaultError/Code/io`` where the boot id cannot be read.
  mutating func refuseUnlessRequested(_ item: Item) throws(VaultError) {
    let life = try item.life(of: .consent)
    switch try state(of: item.id).consentState() {
    case .requested, .expired: try refuseEnded(item, life)
    case .confirmed:
      throw VaultError(
        .wrongState, "the consent is confirmed already, and that is final", hint: .requestConsent)
    case .failed: throw .consentFailed
    case .revoked:
      throw VaultError(
        .wrongState, "the consent was revoked, or its session is closed", hint: .requestConsent)
    }
  }
}

extension VaultCore {
  /// The consents. Opens no secret.
  ///
  /// - Parameter damaged: Called with each that does not open, and the reason. Without it, such a consent is an error.
  package func cardConsents(
    damaged: ((ItemID, VaultError) -> Void)? = nil
  ) throws(VaultError) -> [CardConsent] {
    var transaction = try beginReading()
    try transaction.readTime()
    let moment = transaction.expiryMoment
    var found: [CardConsent] = []
    let kept = try transaction.items(matching: Query(.consent), damaged: damaged)
      .filter { !transaction.isForgotten($0) }
    try transaction.forEachState(of: kept, damaged: damaged) { (item, state) throws(VaultError) in
      found.append(try CardConsent(item, state, at: moment))
    }
    return found
  }

  /// Ends a consent.
  package func revokeConsent(_ id: ItemID) throws(VaultError) {
    try notingEnd { () throws(VaultError) in
      var transaction = try beginWriting()
      try transaction.refuseUnlessRequested(id)
      try transaction.end(transaction.item(id), as: .revoked, detail: "it was revoked")
      try transaction.commit()
    }
  }

  /// A consent without its code.
  package func consent(_ id: ItemID) throws(VaultError) -> CardConsent {
    var transaction = try beginReading()
    let item = try transaction.item(id)
    try transaction.readTime()
    return try CardConsent(item, transaction.state(of: id), at: transaction.expiryMoment)
  }

  /// Opens a consent that waits, which shows that the session is its own.
  ///
  /// - Throws: ``VaultError/Code/policy`` for a consent of the other role.
  func openConsent(
    _ id: ItemID, as role: ConsentRecord.Role, session: ViewingSession?, context: AuthenticationContext?
  ) throws(VaultError) -> Item {
    let component = Component(.consent, session: session?.secret)
    var transaction = try beginReading(
      .secret(.use, of: id, by: component), to: "use the consent", context: context
    ) { (look) throws(VaultError) in
      try look.readTime()
      let item = try look.item(id)
      try look.refuseUnlessRequested(item)
      if session != nil { try item.life(of: .consent).refuseOther(session) }
      // The fifth attempt may be on its way, or its process was killed.
      guard try look.state(of: id).failures < CardConsent.mostAttempts else { throw .consentFailed }
    }
    let item = try transaction.item(id)
    let opened = try transaction.useSecret(of: item, by: component)
    try ConsentRecord(opened.intoSecret()).refuse(unless: role)
    return item
  }

  /// Refuses the name of another item before anybody is asked for anything.
  func refuseTaken(_ name: String) throws(VaultError) {
    var transaction = try beginReading()
    var attributes = Attributes()
    attributes[.name] = name
    guard try transaction.ended(named: name) == nil else { return }
    guard try transaction.items(matching: Query(where: attributes, limit: 1)).isEmpty else {
      throw VaultError(
        .duplicateItem, "an item of that name exists", hint: "choose another name, or delete that item")
    }
  }
}

extension ConsentRecord {
  /// - Throws: ``VaultError/Code/policy``.
  borrowing func refuse(unless wanted: Role) throws(VaultError) {
    guard role != wanted else { return }
    throw wanted == .holder
      ? VaultError(
        .policy, "the vault issued this consent, so it judges the code itself",
        hint: "leave out the transport")
      : VaultError(
        .policy, "another system judges the code of this consent", hint: "give the transport to it")
  }
}

extension VaultError {
  static var consentFailed: VaultError {
    VaultError(
      .wrongState, "the code of the consent was wrong five times, and that is final", hint: .requestConsent)
  }
}

extension ItemState {
  /// Between two resends, in milliseconds.
  fileprivate static let resendPause: UInt64 = 30_000
}
