package import SecretMemory
package import VaultKit

/// Card tokens on the synchronous core. ``CardTokens`` offers the same on the actor.
extension VaultCore {
  /// Stores a token. A token of this name that has ended is replaced.
  package func storeToken(
    _ new: NewCardToken, secret: SharedSecret, session: ViewingSession? = nil,
    context: AuthenticationContext? = nil
  ) throws(VaultError) -> CardToken {
    try Self.check(token: secret)
    let id = try newItemID()
    let component = Component(.cardToken, session: session?.secret)
    // A vault may be unlocked here, so the time begins afterwards.
    try permitAdding(
      new.item(id: id, session: session, clock: environment.clock, now: expiryTime()), by: component,
      context: context)
    try deleteEnded(named: new.name)
    let item = try new.item(id: id, session: session, clock: environment.clock, now: expiryTime())
    let note = AuditNote(operation: .tokenStored, item: id, kind: .cardToken)
    let added = try add(
      item, secret: secret.bytes.copy(), by: component, noting: [note], context: context
    ) { item, transaction throws(VaultError) in
      // The person may have taken long to type its application password.
      item = try new.item(
        id: id, session: session, clock: transaction.reading.clock, now: transaction.reading.expiryTime)
    }
    return try CardToken(added, item.state, at: expiryMoment())
  }

  /// Takes a token out for one use. The use is on the disk, and the secret of a last use is deleted, before this returns.
  package func takeToken(
    _ id: ItemID, session: ViewingSession? = nil, context: AuthenticationContext? = nil
  ) throws(VaultError) -> SecretBytes {
    let component = Component(.cardToken, session: session?.secret)
    return try notingEnd { () throws(VaultError) in
      var transaction = try beginWriting(
        .secret(.use, of: id, by: component), to: "show the card token", context: context
      ) { (look) throws(VaultError) in _ = try look.usableToken(id, of: session) }
      let secret = try transaction.takeToken(id, of: session, by: component)
      try transaction.commit()
      return secret
    }
  }

  /// A token without its secret.
  package func cardToken(_ id: ItemID) throws(VaultError) -> CardToken {
    var transaction = try beginReading()
    let item = try transaction.item(id)
    try transaction.readTime()
    return try CardToken(item, transaction.state(of: id), at: transaction.expiryMoment)
  }

  /// The tokens, those that have ended too. Opens no secret.
  ///
  /// - Parameter damaged: Called with each that does not open, and the reason. Without it, such a token is an error.
  package func cardTokens(
    damaged: ((ItemID, VaultError) -> Void)? = nil
  ) throws(VaultError) -> [CardToken] {
    var transaction = try beginReading()
    try transaction.readTime()
    let moment = transaction.expiryMoment
    var found: [CardToken] = []
    let kept = try transaction.items(matching: Query(.cardToken), damaged: damaged)
      .filter { !transaction.isForgotten($0) }
    try transaction.forEachState(of: kept, damaged: damaged) { (item, state) throws(VaultError) in
      found.append(try CardToken(item, state, at: moment))
    }
    return found
  }

  /// Ends a token.
  package func revokeToken(_ id: ItemID) throws(VaultError) {
    try notingEnd { () throws(VaultError) in
      var transaction = try beginWriting()
      let item = try transaction.item(id)
      let life = try item.life(of: .cardToken)
      try transaction.reading.refuseEnded(item, life)
      try transaction.end(item, operation: .tokenRevoked)
      try transaction.commit()
    }
  }

  /// Ends what is not valid, and deletes the rows of what ended more than a day ago.
  ///
  /// - Returns: How many ended now.
  package func purgeTokens() throws(VaultError) -> Int {
    var transaction = try beginWriting()
    let clock = transaction.reading.clock
    for item in try transaction.itemsWithLife() where [.cardToken, .consent].contains(item.kind) {
      if transaction.reading.isForgotten(item) {
        try transaction.destroy(item.id)
      } else if item.tokenLife?.standing(clock) == .over {
        try transaction.end(item, as: .expired, detail: "its time is over")
      }
    }
    let result = transaction.endedItems
    try transaction.commit()
    return result
  }

  /// Ends the tokens and consents of a session, and what else belongs to it, also what a later version made.
  ///
  /// - Returns: How many ended now.
  package func closeSession(_ session: ViewingSession) throws(VaultError) -> Int {
    let hash = session.hash
    var transaction = try beginWriting()
    let before = transaction.endedItems
    for item in try transaction.itemsWithLife() where item.tokenLife?.session == hash {
      try transaction.endWithSession(item)
    }
    let result = transaction.endedItems - before
    try transaction.commit()
    return result
  }

  // MARK: What consents need too

  /// Runs `body`. If it finds that something has ended, or ended more than a day ago, the end is recorded: a wall clock that
  /// is set back afterwards must not revive it.
  func notingEnd<R: ~Copyable>(_ body: () throws(VaultError) -> R) throws(VaultError) -> R {
    do throws(VaultError) { return try body() } catch {
      if [.expired, .itemNotFound].contains(error.code), !isReadOnly { _ = try? purgeTokens() }
      throw error
    }
  }

  /// Makes room for a new token or consent: deletes one of this name that has ended.
  func deleteEnded(named name: String) throws(VaultError) {
    var transaction = try beginReading()
    let isThere = try transaction.ended(named: name) != nil
    transaction.end()
    guard isThere else { return }
    var change = try beginWriting()
    try change.deleteEnded(named: name)
    try change.commit()
  }

  func newItemID() throws(VaultError) -> ItemID { ItemID(try environment.random.newBytes(16))! }

  /// - Throws: ``VaultError/Code/malformed``.
  static func check(token: SharedSecret) throws(VaultError) {
    guard NewCardToken.secretBytes ~= token.byteCount else {
      throw VaultError(
        .malformed, "a card token has 1 byte to 64 KiB", hint: "give the token, and nothing else")
    }
  }
}

extension ReadTransaction {
  /// Refuses a token or a consent that has ended, or whose time is over.
  ///
  /// - Throws: ``VaultError/Code/expired`` for a day, then ``VaultError/Code/itemNotFound``; ``VaultError/Code/io`` where
  ///   the boot id cannot be read.
  func refuseEnded(_ item: Item, _ life: TokenLife) throws(VaultError) {
    guard !isForgotten(item) else { throw VaultError(.itemNotFound, "there is no such item") }
    guard item.hasSecret else { throw .ended(item) }
    switch life.standing(clock) {
    case .valid: return
    case .over: throw .ended(item)
    case .unknown: try clock.refuseWithoutBoot()
    }
  }

  /// A token of a session that has not ended.
  fileprivate mutating func usableToken(_ id: ItemID, of session: ViewingSession?) throws(VaultError) -> Item
  {
    let item = try item(id)
    let life = try item.life(of: .cardToken)
    try refuseEnded(item, life)
    // The gate refuses a session that was not given, and logs that.
    if session != nil { try life.refuseOther(session) }
    return item
  }

  /// Whether the row of a token or a consent has said for a day that it ended, by the recorded time.
  func isForgotten(_ item: Item) -> Bool {
    guard let expires = item.expires else { return false }
    return expires.advanced(byMilliseconds: 86_400_000) <= deletionTime
  }

  /// A token or a consent of this name that has ended.
  mutating func ended(named name: String) throws(VaultError) -> Item? {
    var attributes = Attributes()
    attributes[.name] = name
    let found = try items(matching: Query(where: attributes, limit: 1)).first
    guard let found, [.cardToken, .consent].contains(found.kind), let life = found.tokenLife else {
      return nil
    }
    return !found.hasSecret || life.standing(clock) == .over ? found : nil
  }
}

extension WriteTransaction {
  fileprivate mutating func endWithSession(_ item: Item) throws(VaultError) {
    let detail = "its session was closed"
    switch item.kind {
    case .cardToken: try end(item, operation: .tokenRevoked, detail: detail)
    case .consent: try end(item, operation: .consentEnded, detail: detail)
    // What its state means is not known here.
    default: if item.hasSecret { try end(item, logging: .itemUpdated, detail: detail) }
    }
  }

  /// One use of a token. The caller returns the secret after the commit.
  fileprivate mutating func takeToken(
    _ id: ItemID, of session: ViewingSession?, by component: Component
  ) throws(VaultError) -> SecretBytes {
    let item = try reading.usableToken(id, of: session)
    let secret = try useSecret(of: item, by: component)
    let (left, now) = (try usesLeft(of: item), reading.clock.now())
    try changeState(of: id) { state in
      state.usesLeft = left - 1
      state.uses &+= 1
      state.lastUse = now
    }
    try log(.tokenTaken, item: item)
    if left == 1 { try end(item, detail: "its uses are over") }
    return secret
  }

  private mutating func usesLeft(of item: Item) throws(VaultError) -> UInt32 {
    let left = try state(of: item.id).usesLeft
    guard left > 0 else { throw .ended(item) }
    return left
  }

  /// Deletes a token or a consent of this name that has ended.
  mutating func deleteEnded(named name: String) throws(VaultError) {
    if let item = try reading.ended(named: name) { try destroy(item.id) }
  }
}

extension VaultError {
  static func ended(_ item: Item) -> VaultError {
    item.kind == .cardToken
      ? VaultError(
        .expired, "the card token has ended: its time, its uses or its session are over, or it was revoked",
        hint: .storeToken)
      : VaultError(.expired, "the time of the consent is over", hint: .requestConsent)
  }
}
