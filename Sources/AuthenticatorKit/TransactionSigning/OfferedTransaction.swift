package import VaultKit

/// A transaction in the answer of a peer (`docs/guides/transport.md`, *Transactions*), checked.
struct OfferedTransaction {
  let alias: String
  let action: TransactionAction
  let context: ShownText?
  let factors: [TransactionFactor]
  let lifeSeconds: UInt64
  private let service: String?
  private let serviceName: String?
  private let deviceAlias: String?

  /// - Parameter push: What was asked for. Its time counts where the peer gives none. Its names are not shown.
  /// - Throws: ``VaultError/Code/network`` for members out of their bounds, or for another transaction than the one that was
  ///   asked for; ``VaultError/Code/policy`` for a text that would not show as itself.
  init(_ fields: TransportFields, push: PushPayload?) throws(VaultError) {
    alias = try TransportFields.required("alias", fields.text("alias", 1...64))
    action = try Self.action(of: fields)
    guard push == nil || push?.alias == alias, push?.action == nil || push?.action == action else {
      throw .peerAnswered("it is another transaction than the one that was asked for")
    }
    factors = try Self.factors(of: fields)
    lifeSeconds = try fields.lifeSeconds(Self.life(in: push) ?? 70)
    service = try fields.name("service", 0...255)
    serviceName = try fields.name("serviceName", 0...255)
    deviceAlias = try fields.name("deviceAlias", 0...255)
    context = try Self.context(of: fields)
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
    return NewItem(
      .transaction, attributes: attributes,
      access: AccessControl(credential.access.accessibility, thisDeviceOnly: true),
      expires: Instant(seconds: now.seconds + Int64(lifeSeconds) + 24 * 3600))
  }

  func record(for credential: Item) -> TransactionRecord {
    TransactionRecord(
      context: context?.text ?? "", factors: factors.reduce(0) { $0 | $1.bit }, action: action.number,
      credential: credential.id)
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

  /// The text, which alone has lines.
  private static func context(of fields: TransportFields) throws(VaultError) -> ShownText? {
    guard let value = fields["context"] else { return nil }
    guard case .text(let text) = value else { throw .peerAnswered("'context' is no text") }
    return text.isEmpty ? nil : try ShownText(text)
  }

  private static func life(in push: PushPayload?) -> UInt64? {
    push?.secondsToLive.flatMap { UInt64(exactly: $0) }.flatMap {
      TransportFields.lives.contains($0) ? $0 : nil
    }
  }
}

extension Query {
  /// The transactions with this alias, byte for byte, of all credentials: an alias has few of them, and a credential may have
  /// many.
  package static func transactions(alias: String) -> Query {
    var query = Query(.transaction)
    query.attributes[.label] = alias
    return query
  }
}
