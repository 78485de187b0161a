import CommandLineKit
package import TextFormats
package import VaultKit

extension ItemKind {
  /// The word of `--kind` and of listings.
  package var word: String { Self.words.first { $0.kind == self }?.word ?? "kind-\(rawValue)" }

  package init?(word: String) {
    guard let kind = Self.words.first(where: { $0.word == word })?.kind else { return nil }
    self = kind
  }

  private static let words: [(word: String, kind: ItemKind)] = [
    ("password", .genericPassword), ("internet-password", .internetPassword), ("key", .key),
    ("certificate", .certificate), ("otp", .otp), ("pin", .pin), ("biokey", .biokey), ("token", .cardToken),
    ("consent", .consent), ("client-registration", .clientRegistration), ("transaction", .transaction),
    ("token-set", .tokenSet),
    ("response-jwt", .responseJWT), ("attachment", .attachment),
  ]
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
  package var weakness: String? {
    guard kind == .otp else { return nil }
    let bits = attributes[.otpSecretBits].map { "a secret of \($0) bits" }
    let isSteam = attributes[.otpType] == 3
    let digits = attributes[.otpDigits].flatMap { isSteam || $0 >= 6 ? nil : "codes of \($0) digits" }
    let parts = [bits, digits].compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: " and ")
  }

  /// Everything but the secret.
  package var json: JSON { json(at: nil) }

  /// The same, with a mark if it has expired by then.
  package func json(at moment: ExpiryMoment?) -> JSON {
    .object(fields(at: moment).map { ($0.key, $0.json) })
  }

  /// Two columns for people.
  package func lines(at moment: ExpiryMoment, adding facts: [(String, String)] = []) -> [String] {
    columns((fields(at: moment).map { ($0.key, $0.text) } + facts).map { [$0.0, $0.1] })
  }

  private struct Field {
    let key: String
    let json: JSON
    let text: String

    init(_ key: String, _ text: String) { (self.key, json, self.text) = (key, .string(text), text) }
    init(_ key: String, _ number: Int64) { (self.key, json, text) = (key, .integer(number), String(number)) }
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
    if kind == .otp { fields += credentialFields }
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

  private var credentialFields: [Field] {
    let types: [Int64: String] = [1: "hotp", 2: "totp", 3: "steam", 4: "ocra", 5: "activation"]
    let algorithms: [Int64: String] = [1: "SHA1", 2: "SHA256", 3: "SHA512"]
    var fields: [Field] = []
    if let type = attributes[.otpType].flatMap({ types[$0] }) { fields.append(Field("type", type)) }
    if let role = attributes[.otpRole] { fields.append(Field("role", role == 2 ? "verifier" : "prover")) }
    if let name = attributes[.otpAlgorithm].flatMap({ algorithms[$0] }) {
      fields.append(Field("algorithm", name))
    }
    if let digits = attributes[.otpDigits] { fields.append(Field("digits", digits)) }
    if let suite = attributes[.ocraSuite] { fields.append(Field("suite", suite)) }
    if let weakness { fields.append(Field("weak", weakness)) }
    if attributes[.otpType] != 1, let period = attributes[.otpPeriod] {
      fields.append(Field("period", period))
    }
    if attributes[.otpRole] == 2, let window = attributes[.otpWindow] {
      fields.append(Field("window", window))
    }
    return fields
  }
}
