package import CommandLineKit
package import TextFormats
package import VaultKit

extension ItemKind {
  /// The word of `--kind` and of listings.
  package var word: String { rules.word }

  package init?(word: String) {
    guard let rules = KindRegistry.all.first(where: { $0.word == word }) else { return nil }
    self = rules.kind
  }

  /// The kinds of which a list can be asked for, by their words.
  package static var listed: Meanings<ItemKind> {
    let rules = KindRegistry.all.filter(\.isListedAlone)
    return Meanings(words: rules.map(\.word), values: rules.map(\.kind))
  }
}

extension Accessibility {
  /// The word of `--accessible`.
  package var word: String {
    switch self {
    case .whenUnlocked: "when-unlocked"
    case .afterFirstUnlock: "after-first-unlock"
    case .whenPasscodeSet: "when-passcode-set"
    }
  }

  package init?(word: String) {
    guard let match = Self.allCases.first(where: { $0.word == word }) else { return nil }
    self = match
  }
}

extension Item {
  /// What the server of a credential chose too weak, as a phrase; `nil` for anything else.
  package var weakness: String? { kind.rules.weakness.flatMap { $0(attributes) } }

  /// The words by which a person finds it, ascending by bytes.
  package var tags: [String] {
    attributes[.tags].map { $0.split(separator: "\n" as Character).map(String.init) } ?? []
  }

  /// Everything but the secret.
  package var json: JSON { json(at: nil) }

  /// The same, with a mark if it has expired by then.
  package func json(at moment: ExpiryMoment?) -> JSON {
    .object(fields(at: moment).map { ($0.key, $0.json) })
  }

  /// Two columns for people.
  package func lines(at moment: ExpiryMoment, adding facts: [(String, String)] = []) -> [String] {
    columns((fields(at: moment).map { (wording(ofKey: $0.key), $0.text) } + facts).map { [$0.0, $0.1] })
  }

  private struct Field {
    let key: String
    let json: JSON
    let text: String

    init(_ fact: KindRules.Fact) {
      switch fact.value {
      case .text(let text): self.init(fact.key, text)
      case .number(let number): self.init(fact.key, number)
      }
    }
    init(_ key: String, _ text: String) { (self.key, json, self.text) = (key, .string(text), text) }
    init(_ key: String, _ number: Int64) { (self.key, json, text) = (key, .integer(number), String(number)) }
    init(_ key: String, _ list: [String]) {
      (self.key, json, text) = (key, list.json, list.joined(separator: ", "))
    }
    init(_ key: String, _ flag: Bool) { (self.key, json, text) = (key, .boolean(flag), flag ? "yes" : "no") }
    init(_ key: String, _ instant: Instant) {
      (self.key, json, text) = (key, .integer(instant.seconds), Instants.text(seconds: instant.seconds))
    }
  }

  private func fields(at moment: ExpiryMoment?) -> [Field] {
    var fields: [Field] = [Field("id", id.hexadecimal), Field("kind", kind.word)]
    if let name { fields.insert(Field("name", name), at: 0) }
    let texts: [(String, Attribute<String>)] = [
      ("service", .service), ("account", .account), ("label", .label), ("comment", .comment),
      ("issuer", .issuer),
    ]
    fields += texts.compactMap { key, attribute in attributes[attribute].map { Field(key, $0) } }
    if kind.rules.canBeEntry, let host = attributes[.server] { fields.append(Field("host", host)) }
    if !tags.isEmpty { fields.append(Field("tags", tags)) }
    if let facts = kind.rules.facts { fields += facts(attributes).map(Field.init) }
    fields += [
      Field("accessible", access.accessibility.word), Field("thisDeviceOnly", access.thisDeviceOnly),
      Field("audit", audit == .all ? "all" : "changes"), Field("hasSecret", hasSecret),
      Field("created", created), Field("modified", modified),
    ]
    if let shownExpiry { fields.append(Field("expires", shownExpiry)) }
    if kind.isGivenWhenExpired, expiry == .refuse { fields.append(Field("expiry", "refuse")) }
    if moment?.hasExpired(self) == true { fields.append(Field("expired", true)) }
    if isConstrained { fields.append(Field("access", access.constraints.shown.joined(separator: ","))) }
    return fields
  }
}
