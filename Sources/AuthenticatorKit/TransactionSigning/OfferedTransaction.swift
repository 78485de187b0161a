package import VaultKit

/// A transaction in the answer of a peer (`docs/guides/transport.md`, *Transactions*), checked.
struct OfferedTransaction {
  let alias: String
  let action: TransactionAction
  let text: OfferedText
  let factors: [TransactionFactor]
  let lifeSeconds: UInt64
  private let service: String?
  private let serviceName: String?
  private let deviceAlias: String?

  /// - Parameter push: What was asked for. Its time counts where the peer gives none. Its names are not shown.
  /// - Throws: ``VaultError/Code/network`` for members out of their bounds, or for another transaction than the one that was
  ///   asked for. A text that must not be shown is no error: it hides no other transaction.
  init(_ fields: TransportFields, push: PushPayload?) throws(VaultError) {
    alias = try Self.alias(of: fields)
    action = try Self.action(of: fields)
    guard push == nil || push?.alias == alias, push?.action == nil || push?.action == action else {
      throw .peerAnswered("it is another transaction than the one that was asked for")
    }
    factors = try Self.factors(of: fields)
    lifeSeconds = try fields.lifeSeconds(Self.life(in: push) ?? 70)
    service = try Self.name("service", in: fields)
    serviceName = try Self.name("serviceName", in: fields)
    deviceAlias = try Self.name("deviceAlias", in: fields)
    text = try OfferedText(fields)
  }

  /// The name by which the peer can be asked for what comes after it, whatever else is wrong with a transaction.
  static func alias(of fields: TransportFields) throws(VaultError) -> String {
    try TransportFields.required("alias", fields.text("alias", 1...64))
  }

  /// The item that stores it: of this device alone, with the accessibility of the credential, for a day beyond its life.
  ///
  /// - Parameter now: The wall time by which items expire.
  func item(for credential: Item, now: Instant, deadline: Deadline) -> NewItem {
    var attributes = Query.transactions(alias: alias).attributes
    attributes[.account] = credential.id.hexadecimal
    attributes[.credential] = credential.id.bytes
    attributes.standing = TransactionStanding(.pending, until: deadline)
    if let service, !service.isEmpty { attributes[.service] = service }
    if let serviceName, !serviceName.isEmpty { attributes[.issuer] = serviceName }
    if let deviceAlias, !deviceAlias.isEmpty { attributes[.itemDescription] = deviceAlias }
    attributes.hiddenText = text.whyHidden
    return NewItem(
      .transaction, attributes: attributes,
      access: AccessControl(credential.access.accessibility, thisDeviceOnly: true),
      expires: Instant(seconds: now.seconds + Int64(lifeSeconds) + 24 * 3600))
  }

  func record(for credential: Item) -> TransactionRecord {
    TransactionRecord(
      context: text.stored, isCut: text.whyHidden == .isTooLong, factors: factors.reduce(0) { $0 | $1.bit },
      action: action.number, credential: credential.id)
  }

  private static func action(of fields: TransportFields) throws(VaultError) -> TransactionAction {
    guard let word = try fields.text("action", 0...64) else { return .authenticate }
    guard let action = TransactionAction(rawValue: word) else {
      throw .peerAnswered("'action' is neither authenticate nor activate")
    }
    return action
  }

  /// Words of a later version are left out.
  private static func factors(of fields: TransportFields) throws(VaultError) -> [TransactionFactor] {
    let words = try fields.texts("types") ?? [TransactionFactor.pin.rawValue]
    let factors = TransactionFactor.allCases.filter { words.contains($0.rawValue) }
    guard !factors.isEmpty else { throw .peerAnswered("'types' names nothing that accepts a transaction") }
    return factors
  }

  /// A text for lists. One that would not show as itself is written with escapes, and left out if it is too long then.
  private static func name(_ name: String, in fields: TransportFields) throws(VaultError) -> String? {
    guard let value = fields[name] else { return nil }
    guard case .text(let text) = value, text.utf8.count <= 255 else {
      throw .peerAnswered("'\(name)' is no text of 0 to 255 bytes")
    }
    guard VisibleText.flaw(inName: text) != nil else { return text }
    let escaped = VisibleText.escaped(text)
    return escaped.utf8.count <= 255 && VisibleText.flaw(inName: escaped) == nil ? escaped : nil
  }

  private static func life(in push: PushPayload?) -> UInt64? {
    push?.secondsToLive.flatMap { UInt64(exactly: $0) }.flatMap {
      TransportFields.lives.contains($0) ? $0 : nil
    }
  }
}

/// The text that a person is to see whole, which alone has lines, or what came in its place.
struct OfferedText {
  /// Empty for none; of one that must not be shown, as it came, up to 4,096 bytes.
  let stored: String
  /// `nil` if a person can see it whole.
  let whyHidden: HiddenText?

  fileprivate init(_ fields: TransportFields) throws(VaultError) {
    guard let value = fields["context"] else { (stored, whyHidden) = ("", nil); return }
    guard case .text(let text) = value else { throw .peerAnswered("'context' is no text") }
    guard text.utf8.count <= ShownText.mostBytes else {
      (stored, whyHidden) = (text.beginning(ofBytes: ShownText.mostBytes), .isTooLong)
      return
    }
    stored = text
    whyHidden = (try? ShownText(text)) == nil ? .hasHiddenCharacter : nil
  }
}

extension String {
  /// As many whole characters of Unicode as fit into so many bytes.
  fileprivate func beginning(ofBytes limit: Int) -> String {
    var (end, count) = (unicodeScalars.startIndex, 0)
    for index in unicodeScalars.indices {
      count += UTF8.width(unicodeScalars[index])
      guard count <= limit else { break }
      end = unicodeScalars.index(after: index)
    }
    return String(unicodeScalars[..<end])
  }
}

extension Query {
  /// The transactions of a credential.
  static func transactions(of credential: ItemID) -> Query {
    var query = Query(.transaction)
    query.attributes[.account] = credential.hexadecimal
    return query
  }

  /// The transactions with this alias, byte for byte, of all credentials: an alias has few of them, and a credential may have
  /// many.
  package static func transactions(alias: String) -> Query {
    var query = Query(.transaction)
    query.attributes[.label] = alias
    return query
  }
}
