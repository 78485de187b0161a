import SecretMemory
package import VaultKit

/// The side of a consent that asks another system for the code, on the synchronous core. ``CardConsents`` offers the same on
/// the actor.
extension VaultCore {
  /// Asks the peer for a challenge, and stores it.
  package func requestConsent(
    _ new: NewConsent, session: ViewingSession? = nil, over transport: any Transport,
    context: AuthenticationContext? = nil
  ) throws(VaultError) -> CardConsent {
    try request(new, replacing: nil, session: session, over: transport, context: context)
  }

  /// - Parameter old: The consent that has expired and is asked for again; `nil` for a new one.
  private func request(
    _ new: NewConsent, replacing old: Item?, session: ViewingSession?, over transport: any Transport,
    context: AuthenticationContext?
  ) throws(VaultError) -> CardConsent {
    let component = Component(.consent, session: session?.secret)
    // A consent that is asked for again stays the same for the program.
    let id = if let old { old.id } else { try newItemID() }
    let clock = environment.clock
    // Everything that can be refused is refused before the peer sends a code.
    try permitAdding(
      new.item(.holder, id: id, session: session, clock: clock, now: expiryTime()), by: component,
      context: context)
    if old == nil { try refuseTaken(new.name) }
    var fields = TransportFields()
    fields["user"] = .text(new.user)
    fields["card"] = .text(new.card)
    if let channel = new.channel { fields["channel"] = .text(channel) }
    let answer = try exchange(.consentRequest, fields, over: transport, context: context)
    let challenge = try TransportFields.required("challenge", answer.text("challenge", 1...255))
    var item = try new.item(.holder, id: id, session: session, clock: clock, now: expiryTime())
    item.attributes[.challenge] = challenge
    item.attributes[.transport] = transport.identity
    item.state.isRenewed = old != nil
    var transaction = try beginWriting(.add(item, by: component), context: context)
    if let old { try transaction.destroy(old.id) } else { try transaction.deleteEnded(named: new.name) }
    try transaction.endConsents(of: session?.hash)
    let added = try transaction.add(item, secret: ConsentRecord.holding().data.copy(), by: component)
    try transaction.log(
      .consentRequested, item: added, detail: old == nil ? nil : "again, because it had expired")
    try transaction.commit()
    return try CardConsent(added, item.state, at: expiryMoment())
  }

  /// Hands the code to the peer, and stores the token that comes back.
  ///
  /// An attempt is counted on disk before the peer is asked, and stays counted whatever the peer answers: a process that is
  /// killed does not get another one.
  package func confirmConsent(
    _ id: ItemID, with code: ConsentCode, storing new: NewCardToken, session: ViewingSession? = nil,
    over transport: any Transport, context: AuthenticationContext? = nil
  ) throws(VaultError) -> CardToken {
    let consent = try held(id, session: session, over: transport, context: context)
    let tokenID = try newItemID()
    try permitAdding(
      new.item(id: tokenID, session: session, clock: environment.clock, now: expiryTime()),
      by: Component(.cardToken, session: session?.secret), context: context)
    guard !new.access.constraints.contains(.applicationPassword) else {
      throw VaultError(
        .policy, "the token of a consent cannot have an application password",
        hint: "choose another access rule")
    }
    try refuseTaken(new.name)
    var transaction = try beginWriting()
    let left = try transaction.countAttempt(of: id)
    try transaction.commit()
    var fields = consent.peerFields
    fields["codeBase64"] = .secret(TransportSecret(code.digits))
    let answer: TransportFields
    do throws(VaultError) {
      answer = try exchange(.consentConfirm, fields, over: transport, context: context)
    } catch {
      throw try afterRefusal(
        error, of: consent, left: left, session: session, over: transport, context: context)
    }
    let token = try GivenToken(answer, to: new)
    return try store(token, id: tokenID, of: consent, session: session, context: context)
  }

  /// Has the peer send the code again. The challenge and its deadline stay.
  package func resendConsent(
    _ id: ItemID, session: ViewingSession? = nil, over transport: any Transport,
    context: AuthenticationContext? = nil
  ) throws(VaultError) -> CardConsent {
    let item = try held(id, session: session, over: transport, context: context)
    var transaction = try beginWriting()
    try transaction.countResend(of: id)
    try transaction.commit()
    do throws(VaultError) {
      _ = try exchange(.consentResend, item.peerFields, over: transport, context: context)
    } catch {
      guard error.code == .expired else { throw error }
      throw renewing(item, session: session, over: transport, context: context)
    }
    return try consent(id)
  }

  /// Checks that a code can be handed to the peer, before a person is asked for it.
  ///
  /// - Throws: ``VaultError/Code/expired``, also after the consent was requested again.
  package func prepareConsent(
    _ id: ItemID, session: ViewingSession? = nil, over transport: any Transport,
    context: AuthenticationContext? = nil
  ) throws(VaultError) {
    _ = try held(id, session: session, over: transport, context: context)
  }

  // MARK: Steps

  /// A consent of a holder that waits, whose peer this transport may ask. One that has expired is asked for again.
  ///
  /// - Throws: ``VaultError/Code/expired``, also after it was asked for again.
  private func held(
    _ id: ItemID, session: ViewingSession?, over transport: any Transport, context: AuthenticationContext?
  ) throws(VaultError) -> Item {
    var transaction = try beginReading()
    let item = try transaction.item(id)
    _ = try item.life(of: .consent)
    transaction.end()
    if let stored = item.attributes[.transport], stored != transport.identity {
      throw VaultError(
        .policy, "the consent was requested through another transport",
        hint: "name that one, or request a new consent")
    }
    do throws(VaultError) {
      return try notingEnd { () throws(VaultError) in
        try openConsent(id, as: .holder, session: session, context: context)
      }
    } catch {
      guard error.code == .expired else { throw error }
      throw renewing(item, session: session, over: transport, context: context)
    }
  }

  /// Asks for an expired consent again, once.
  ///
  /// - Returns: The error that says what became of it.
  private func renewing(
    _ item: Item, session: ViewingSession?, over transport: any Transport, context: AuthenticationContext?
  ) -> VaultError {
    do throws(VaultError) {
      let life = try item.life(of: .consent)
      try life.refuseOther(session)
      var transaction = try beginReading()
      let isRenewed = try transaction.state(of: item.id).isRenewed
      transaction.end()
      guard !isRenewed, item.attributes[.transport] == transport.identity else { return .ended(item) }
      let bound = life.session == nil ? nil : session
      _ = try request(NewConsent(item), replacing: item, session: bound, over: transport, context: context)
      return VaultError(
        .expired, "the time of the consent was over, so a new one was requested, with a new code",
        hint: .confirmConsent
      ).final()
    } catch {
      guard error.code != .appCancelled else { return error }
      return VaultError(
        .expired, "the time of the consent is over, and a new one could not be requested: \(error.message)",
        hint: error.advice ?? .requestConsent, underlying: error.underlying
      )
    }
  }

  /// What a refusal of the code means here.
  private func afterRefusal(
    _ error: VaultError, of consent: Item, left: Int, session: ViewingSession?, over transport: any Transport,
    context: AuthenticationContext?
  ) throws(VaultError) -> VaultError {
    if error.code == .expired {
      return renewing(consent, session: session, over: transport, context: context)
    }
    guard error.code == .authenticationFailed else { return error }
    let known = min(left, error.attemptsLeft ?? left)
    var transaction = try beginWriting()
    // Another process may have ended it meanwhile.
    if try transaction.item(consent.id).hasSecret {
      try transaction.noteWrongCode(of: consent.id, left: known, result: error.auditResult)
    }
    try transaction.commit()
    return VaultError(
      .authenticationFailed, error.message,
      hint: known > 0 ? error.advice : .requestConsent, attemptsLeft: known
    )
  }

  /// Confirms the consent, ends the token that the session had, and stores the new one: one commit.
  private func store(
    _ given: GivenToken, id: ItemID, of consent: Item, session: ViewingSession?,
    context: AuthenticationContext?
  ) throws(VaultError) -> CardToken {
    var item = try given.token.item(
      id: id, session: session, clock: environment.clock, now: expiryTime())
    item.attributes[.credential] = consent.id.bytes
    item.attributes[.account] = consent.attributes[.account]
    item.attributes[.card] = consent.attributes[.card]
    let component = Component(.cardToken, session: session?.secret)
    var transaction = try beginWriting(.add(item, by: component), context: context)
    try transaction.refuseUnlessRequested(consent.id)
    try transaction.end(consent, as: .confirmed, operation: .consentConfirmed)
    try transaction.endGivenTokens(of: session?.hash)
    try transaction.deleteEnded(named: given.token.name)
    let added = try transaction.add(item, secret: given.secret.bytes.copy(), by: component)
    try transaction.log(.tokenStored, item: added)
    try transaction.commit()
    return try CardToken(added, item.state, at: expiryMoment())
  }
}

extension Item {
  /// The members by which the peer knows a consent.
  fileprivate var peerFields: TransportFields {
    var fields = TransportFields()
    fields["user"] = .text(attributes[.account] ?? "")
    fields["challenge"] = .text(attributes[.challenge] ?? "")
    return fields
  }
}
