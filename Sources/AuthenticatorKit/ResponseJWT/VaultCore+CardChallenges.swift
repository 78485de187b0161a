import JOSE
package import SecretMemory
package import VaultKit

/// Challenges on the synchronous core. ``CardChallenges`` offers the same on the actor.
extension VaultCore {
  /// Begins a challenge.
  package func beginChallenge(
    _ request: CardChallengeRequest, named name: String, after lookup: CardLookup, seconds: Int64,
    context: AuthenticationContext? = nil
  ) throws(VaultError) -> CardChallenge {
    guard lookup.asksForChallenge else {
      throw VaultError(
        .policy, "the lookup of the card asks for no challenge",
        hint:
          "a challenge is for version 2.x, enrolled 'Y', status 'C'; go on without one, or with another card")
    }
    guard 1...86_400 ~= seconds else {
      throw VaultError(.malformed, "a challenge is kept for 1 to 86,400 seconds", hint: "give another time")
    }
    var item = NewItem(.responseJWT, name: name, access: AccessControl(thisDeviceOnly: true))
    try permitAdding(item, by: .responseJWT, context: context)
    var transaction = try beginWriting(.add(item, by: .responseJWT), context: context)
    let now = transaction.reading.expiryTime
    if let old = try transaction.items(matching: Query(name: name)).first,
      old.kind == .responseJWT, old.hasEnded(at: now)
    {
      try transaction.destroy(old.id)
    }
    item.expires = now.advanced(byMilliseconds: seconds * 1000)
    let record = ResponseRecord(session: request.session, request: request.id, issuer: request.issuer)
    let result = try CardChallenge(transaction.add(item, secret: record.data, by: .responseJWT))
    try transaction.commit()
    return result
  }

  /// Stores the answer. Comparing and storing are one transaction.
  package func receiveAnswer(
    _ token: SharedSecret, to name: String, context: AuthenticationContext? = nil
  ) throws(VaultError) -> CardAnswer {
    let id = try challenge(named: name).id
    var transaction = try beginWriting(.secret(.replace, of: id, by: .responseJWT), context: context)
    let item = try transaction.item(id)
    let record = try ResponseRecord(transaction.useSecret(of: item, by: .responseJWT))
    guard record.answer == nil else {
      throw VaultError(
        .wrongState, "the challenge has its answer already", hint: "look at the answer that it has")
    }
    let answer = try record.reading(token.bytes, at: transaction.reading.expiryTime)
    let changes = ItemChanges(expires: answer.expires.map { .some($0) })
    _ = try transaction.update(
      id, changes, secret: record.answered(token).data, by: .responseJWT)
    try transaction.commit()
    return answer
  }

  /// A challenge with its answer.
  package func challengeDetails(
    named name: String, context: AuthenticationContext? = nil
  ) throws(VaultError) -> CardChallengeDetails {
    let item = try challenge(named: name)
    let record = try ResponseRecord(secret(of: item.id, by: .responseJWT, context: context))
    var answer: CardAnswer?
    if let token = record.answer { answer = try record.reading(token.bytes, at: expiryTime()) }
    return CardChallengeDetails(
      challenge: try CardChallenge(item), request: try CardChallengeRequest(record), answer: answer)
  }

  /// The token of an answer that is sent to a server.
  package func answerForServer(
    of name: String, context: AuthenticationContext? = nil
  ) throws(VaultError) -> SecretBytes {
    let item = try challenge(named: name)
    let record = try ResponseRecord(secret(of: item.id, by: .responseJWT, context: context))
    guard let token = record.answer else {
      throw VaultError(.wrongState, "the challenge has no answer yet", hint: "wait for the answer")
    }
    let answer = try record.reading(token.bytes, at: expiryTime())
    guard answer.outcome.isForServer else {
      throw VaultError(
        .policy, "an answer '\(answer.outcome.rawValue)' is not for the server", hint: "the payment ends here"
      )
    }
    return token.bytes.copy()
  }

  /// The challenges that have not expired.
  package func challenges() throws(VaultError) -> [CardChallenge] {
    var transaction = try beginReading()
    try transaction.readTime()
    let now = transaction.expiryTime
    var found: [CardChallenge] = []
    for item in try transaction.items(matching: Query(.responseJWT)) where !item.hasEnded(at: now) {
      found.append(try CardChallenge(item))
    }
    return found
  }

  /// Deletes a challenge.
  package func endChallenge(named name: String) throws(VaultError) {
    var transaction = try beginWriting()
    let item = try transaction.item(named: name)
    guard item.kind == .responseJWT else { throw .noChallenge }
    try transaction.destroy(item.id)
    try transaction.commit()
  }

  private func challenge(named name: String) throws(VaultError) -> Item {
    let item = try item(named: name)
    guard item.kind == .responseJWT else { throw .noChallenge }
    return item
  }
}

extension ResponseRecord {
  /// What the token says, compared with the request again: an older item may have been put back.
  fileprivate func reading(_ token: borrowing SecretBytes, at now: Instant) throws(VaultError) -> CardAnswer {
    guard token.byteCount > 0 else { return .withoutToken }
    let request = try CardChallengeRequest(self)
    return CardAnswer(try ResponseToken(CompactJWS.received(token), answering: request, at: now))
  }
}

extension Item {
  fileprivate func hasEnded(at now: Instant) -> Bool { expires.map { $0 <= now } ?? false }
}

extension VaultError {
  static var noChallenge: VaultError {
    VaultError(.itemNotFound, "there is no such challenge", hint: "list the challenges for their names")
  }
}
