import SecretMemory
import VaultKit

/// One token set and its commit.
extension VaultCore {
  /// The tokens of a client.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound`` for a client without tokens, and for none; ``VaultError/Code/damaged`` for the
  ///   tokens of another client.
  func openTokens(
    of client: ItemID, context: AuthenticationContext?
  ) throws(VaultError) -> StoredTokens {
    var transaction = try beginReading()
    let item = try transaction.tokenItem(of: client)
    transaction.end()
    guard let item else {
      throw VaultError(.itemNotFound, "the client has no tokens", hint: .requestTokens)
    }
    var reading = try beginReading(.secret(.use, of: item.id, by: .tokenSet), context: context)
    let opened = try reading.useSecret(of: item, by: .tokenSet)
    return StoredTokens(item: item, record: try TokenSetRecord(opened.intoSecret(), of: client))
  }

  /// The tokens that took the place of others; `nil` if those are still there, or none.
  func tokens(
    of client: ItemID, newerThan old: StoredTokens, context: AuthenticationContext?
  ) throws(VaultError) -> StoredTokens? {
    do throws(VaultError) {
      let present = try openTokens(of: client, context: context)
      return present.record.isSame(as: old.record) && present.item.id == old.item.id ? nil : present
    } catch {
      guard error.code == .itemNotFound else { throw error }
      return nil
    }
  }

  func hasRegistration(_ client: ItemID) throws(VaultError) -> Bool {
    try !items(matching: Query(id: client)).filter { $0.kind == .clientRegistration }.isEmpty
  }

  /// Stores what a grant gave, in the place of the tokens that are there.
  ///
  /// - Returns: `nil` if the registration of the client was deleted meanwhile.
  func store(
    _ answer: TokenAnswer, of request: TokenRequest, scope: String?
  ) throws(VaultError) -> TokenSet? {
    var record = TokenSetRecord(of: request.client, number: 1, type: answer.type, access: answer.access)
    (record.refresh, record.id, record.scope) = (answer.refresh, answer.id, answer.scope(asked: scope))
    (record.key, record.expires) = (request.key, try expiry(of: answer))
    guard let client = try items(matching: Query(id: request.client)).first else { return nil }
    var transaction = try beginWriting(
      .add(newTokenSet(of: client), by: .tokenSet), context: request.context)
    guard try !transaction.items(matching: Query(id: client.id)).isEmpty else { return nil }
    try request.remember(in: &transaction)
    let result: TokenSet
    if let old = try transaction.tokens(of: client.id) {
      result = try transaction.replace(old, with: record, noting: .tokensStored, beyond: scope)
    } else {
      let new = newTokenSet(of: try transaction.item(client.id))
      let added = try transaction.add(new, secret: record.data, by: .tokenSet)
      try transaction.log(.tokensStored, item: added)
      result = TokenSet(StoredTokens(item: added, record: record), beyond: scope)
    }
    try transaction.commit()
    return result
  }

  /// Stores what a refresh gave, if nothing has taken the place of the old tokens meanwhile.
  ///
  /// - Returns: The tokens that are stored now; `nil` if the old ones are gone, revoked or deleted.
  func replace(
    _ old: StoredTokens, with answer: TokenAnswer, of request: TokenRequest
  ) throws(VaultError) -> TokenSet? {
    var record = old.record
    (record.access, record.id) = (answer.access, answer.id)
    record.refresh = answer.refresh ?? old.record.refresh
    record.scope = answer.scope(asked: old.record.scope)
    record.expires = try expiry(of: answer)
    // As for new ones: the old ones may be gone.
    let use = Use.add(NewItem(.tokenSet, access: old.item.access), by: .tokenSet)
    var transaction = try beginWriting(use, context: request.context)
    // The registration may be gone with them.
    guard try !transaction.items(matching: Query(id: old.item.id)).isEmpty,
      let present = try transaction.tokens(of: request.client), present.item.id == old.item.id
    else { return nil }
    try request.remember(in: &transaction)
    var result = TokenSet(present)
    if present.record.isSame(as: old.record) {
      result = try transaction.replace(
        present, with: record, noting: .tokensRefreshed, beyond: old.record.scope)
    }
    try transaction.commit()
    return result
  }

  /// Deletes tokens that the server has revoked.
  func delete(_ old: StoredTokens, context: AuthenticationContext?) throws(VaultError) {
    var transaction = try beginWriting(.free, context: context)
    guard let present = try transaction.tokens(of: old.record.registration), present.item.id == old.item.id
    else { return }
    guard present.record.isSame(as: old.record) else {
      throw VaultError(
        .wrongState, "the tokens were replaced while they were revoked", hint: "revoke the new ones too")
    }
    try transaction.log(.tokensRevoked, item: present.item)
    try transaction.destroy(present.item.id)
    try transaction.commit()
  }

  /// Tokens stay on this device: a refresh token that comes back from a backup looks stolen to its server.
  func newTokenSet(of registration: Item) -> NewItem {
    var attributes = Attributes()
    attributes[.account] = registration.id.hexadecimal
    return NewItem(
      .tokenSet, attributes: attributes,
      access: AccessControl(registration.access.accessibility, thisDeviceOnly: true))
  }

  /// By the wall clock, or the latest time that the vault has seen.
  private func expiry(of answer: TokenAnswer) throws(VaultError) -> Instant? {
    guard let seconds = answer.lifeSeconds else { return nil }
    return try expiryTime().advanced(byMilliseconds: Int64(seconds) * 1000)
  }
}

extension TokenSetRecord {
  /// Whether both are the set of one answer.
  fileprivate func isSame(as other: TokenSetRecord) -> Bool {
    number == other.number && access.bytes.isEqualInConstantTime(to: other.access.bytes)
  }
}

extension ReadTransaction {
  fileprivate mutating func tokenItem(of client: ItemID) throws(VaultError) -> Item? {
    _ = try ClientRegistration(item(client))
    var attributes = Attributes()
    attributes[.account] = client.hexadecimal
    return try items(matching: Query(.tokenSet, where: attributes)).first
  }
}

extension WriteTransaction {
  fileprivate mutating func tokens(of client: ItemID) throws(VaultError) -> StoredTokens? {
    guard let item = try reading.tokenItem(of: client) else { return nil }
    let record = try TokenSetRecord(useSecret(of: item, by: .tokenSet), of: client)
    return StoredTokens(item: item, record: record)
  }

  /// The whole set is one secret, so that no reader finds a part of one answer and a part of another.
  fileprivate mutating func replace(
    _ old: StoredTokens, with new: TokenSetRecord, noting operation: AuditOperation, beyond asked: String?
  ) throws(VaultError) -> TokenSet {
    var record = new
    record.number = old.record.number &+ 1
    let item = try update(old.item.id, ItemChanges(), secret: record.data, by: .tokenSet)
    try log(operation, item: item)
    return TokenSet(StoredTokens(item: item, record: record), beyond: asked)
  }
}
