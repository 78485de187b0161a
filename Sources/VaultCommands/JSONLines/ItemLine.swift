import AuthenticatorKit
package import CommandLineKit
import OneTimePassword
package import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// One line of our JSON lines: an item with its secret.
package struct ItemLine {
  package let number: Int
  /// What is stored; a credential's attributes come from its URI.
  var item: NewItem
  var role = OTPRole.prover
  var window: UInt64?
  /// What a credential's codes are made of, if they are not in a URI.
  var suite: OCRASuite?
  /// Whether a credential may be weak.
  var allowsWeak = false
  /// The secret, or the otpauth URI of a credential without a suite; empty for an entry without a password.
  package let secret: SharedSecret
  /// What an entry keeps, with its password; `nil` where there is nothing but a secret.
  var entry: EntryContent?

  package var name: String { item.attributes[.name] ?? "" }

  /// What it holds in secret memory.
  var secretByteCount: Int { entry?.secretByteCount ?? secret.byteCount }
}

/// Reads the lines of a file or of standard input; what is secret goes into secret memory and nowhere else.
package struct ItemLineReader {
  private let json: JSONReader
  private let allowsWeak: Bool

  init(descriptor: Int32, allowingWeak allowsWeak: Bool) {
    json = JSONReader(ByteReader(descriptor: descriptor))
    self.allowsWeak = allowsWeak
  }

  /// Reads lines that are in memory.
  package init(_ text: consuming SecretBytes) { (json, allowsWeak) = (JSONReader(ByteReader(text)), false) }

  /// The line of the next byte, from 1.
  package var line: Int { json.line }

  /// The next item, or `nil` at the end. Empty lines are skipped.
  package func next() throws(CommandError) -> ItemLine? {
    let number: Int
    var fields = Fields()
    do throws(TextError) {
      guard try json.findLine() else { return nil }
      number = json.line
      try read(&fields)
    } catch { throw CommandError(error) }
    return try fields.line(number, allowingWeak: allowsWeak)
  }

  /// Skips the rest of a malformed line.
  package func skipLine() throws(CommandError) {
    do throws(TextError) { try json.skipLine() } catch { throw CommandError(error) }
  }

  private func read(_ fields: inout Fields) throws(TextError) {
    try json.object { name throws(TextError) in
      guard fields.seen.insert(name).inserted else { throw .member(name, "is given twice") }
      try value(of: name, into: &fields)
    }
    try json.endOfLine()
  }

  /// Seconds since 1970: a number, or a text with a date as `--expires` takes it. A number in a text can be a year, and is refused.
  private func expiry() throws(TextError) -> Int64 {
    guard try json.isText() else { return try json.integer() }
    let text = try json.string(limit: 64)
    do throws(TimeFlaw) {
      guard text.utf8.contains(UInt8(ascii: "-")) else { throw .form }
      return try Instants.read(text) / 1000
    } catch {
      throw .malformed(
        error == .form
          ? "a number of seconds since 1970, or a date like \"2027-01-31\" or \"2027-01-31T10:00Z\", is wanted"
          : "a date \(error.words)")
    }
  }

  fileprivate struct Fields {
    var seen: Set<String> = []
    var texts: [String: String] = [:]
    var flags: [String: Bool] = [:]
    var numbers: [String: Int64] = [:]
    var counter: UInt64?
    var secret: SharedSecret?
    var tags: [String] = []
    var notes: SharedSecret?
    var addresses: [SharedSecret] = []
    var own: [OwnField] = []
  }

  fileprivate struct OwnField {
    var name: String?
    var value: SharedSecret?
    var isHidden: Bool?
  }

  private func value(of key: String, into fields: inout Fields) throws(TextError) {
    switch key {
    case "kind", "name", "service", "account", "label", "comment", "accessible", "access", "audit", "expiry",
      "role",
      "suite":
      fields.texts[key] = try json.string(limit: Names.longestText)
    case "thisDeviceOnly", "needsResync", "exhausted": fields.flags[key] = try json.boolean()
    case "expires": fields.numbers[key] = try expiry()
    case "created", "modified", "window": fields.numbers[key] = try json.integer()
    case "counter": fields.counter = try json.unsigned()
    case "secret": fields.secret = SharedSecret(try json.secret(limit: SecretReading.longestSecret))
    case "secretBase64":
      fields.secret = SharedSecret(try json.secretFromBase64(limit: SecretReading.longestSecret))
    case "uri": fields.secret = SharedSecret(try json.secret(limit: OTPAuthURI.maximumByteCount))
    case "tags":
      try json.array { () throws(TextError) in fields.tags.append(try json.string(limit: Names.longest)) }
    case "notes": fields.notes = SharedSecret(try json.secret(limit: EntryLimits.contentByteCount))
    case "urls":
      try json.array { () throws(TextError) in
        guard fields.addresses.count < EntryLimits.addressCount else {
          throw .malformed("too many addresses")
        }
        fields.addresses.append(SharedSecret(try json.secret(limit: EntryLimits.addressByteCount)))
      }
    case "fields":
      try json.array { () throws(TextError) in
        guard fields.own.count < EntryLimits.fieldCount else { throw .malformed("too many fields") }
        fields.own.append(try ownField())
      }
    default: throw .member(key, "is unknown to this version")
    }
  }
}

extension ItemLineReader {
  /// One of `fields`: its name, its value, and whether that is shown only when asked for.
  private func ownField() throws(TextError) -> OwnField {
    var field = OwnField()
    try json.object { key throws(TextError) in
      switch key {
      case "name" where field.name == nil: field.name = try json.string(limit: EntryLimits.fieldNameByteCount)
      case "value" where field.value == nil:
        field.value = SharedSecret(try json.secret(limit: EntryLimits.valueByteCount))
      case "hidden" where field.isHidden == nil: field.isHidden = try json.boolean()
      default: throw .member(key, "is none of name, value, hidden, or is given twice")
      }
    }
    return field
  }
}

extension ItemLineReader.Fields {
  /// Checks what the fields say together.
  fileprivate func line(_ number: Int, allowingWeak allowsWeak: Bool) throws(CommandError) -> ItemLine {
    guard let kind = texts["kind"], kind == "password" || kind == "otp" else {
      throw .unreadableLine("\"kind\" is neither password nor otp")
    }
    guard let name = texts["name"] else { throw .unreadableLine("\"name\" is missing") }
    try Names.checkNew(name, named: "\"name\"")
    for (key, text) in texts where key != "name" { try Names.checkText(text, named: "\"\(key)\"") }
    for key in ["service", "account"] { try Names.checkShown(texts[key] ?? "", named: "\"\(key)\"") }
    let sources = ["secret", "secretBase64", "uri"].filter(seen.contains)
    let hasURI = kind == "otp" && texts["suite"] == nil
    let secret: SharedSecret
    if kind == "password", sources.isEmpty, hasEntry {
      secret = SharedSecret(SecretBytes(copying: [UInt8]()))
    } else {
      guard sources.count == 1, let given = self.secret, (sources[0] == "uri") == hasURI else {
        throw .unreadableLine(
          hasURI
            ? "a credential needs \"uri\" alone, or \"suite\" and a secret"
            : "a password without \"fields\", \"notes\" or \"urls\", or a credential with \"suite\", needs \"secret\" or \"secretBase64\""
        )
      }
      guard given.byteCount > 0 else { throw .unreadableLine("the secret is empty") }
      secret = given
    }
    var line = ItemLine(
      number: number, item: try newItem(kind, name: name), allowsWeak: allowsWeak, secret: secret)
    guard kind == "otp" else {
      if hasEntry { line.entry = try entry(secret) }
      guard texts["role"] == nil, numbers["window"] == nil, flags["needsResync"] == nil,
        flags["exhausted"] == nil, counter == nil, texts["suite"] == nil
      else {
        throw .unreadableLine(
          "\"role\", \"window\", \"needsResync\", \"exhausted\", \"suite\" and \"counter\" are for credentials"
        )
      }
      return line
    }
    guard !hasEntry else { throw .unreadableLine("\"notes\", \"urls\" and \"fields\" are for passwords") }
    line.role = try choice("role", values: ["prover": OTPRole.prover, "verifier": .verifier]) ?? .prover
    line.window = try numbers["window"].map { value throws(CommandError) in
      guard let window = UInt64(exactly: value), (1...10_000).contains(window) else {
        throw .unreadableLine("\"window\" is not from 1 to 10000")
      }
      return window
    }
    line.item.state.needsResync = flags["needsResync"] ?? false
    try readSuite(of: &line)
    let counter = line.suite == nil ? try line.hotpCounter() : counter
    line.item.state.isBlocked = flags["exhausted"] ?? false
    guard !line.item.state.isBlocked || counter == .max else {
      throw .unreadableLine("\"exhausted\" is for a counter at its end, \(UInt64.max)")
    }
    return line
  }

  /// Whether there is more than a secret.
  private var hasEntry: Bool { !seen.isDisjoint(with: ["notes", "urls", "fields"]) }

  private func entry(_ secret: SharedSecret) throws(CommandError) -> EntryContent {
    var entry = EntryContent(password: secret.byteCount > 0 ? secret.copy() : nil)
    do throws(VaultError) {
      if let notes { try entry.setNotes(notes.copy()) }
      for address in addresses { try entry.addAddress(address.copy()) }
      for field in own {
        guard let name = field.name, let value = field.value else {
          throw VaultError(.malformed, "a field needs \"name\" and \"value\"")
        }
        guard (try? entry.field(name)) == nil else {
          throw VaultError(.malformed, "the field \"\(printable(name))\" is there twice")
        }
        try entry.setField(name, to: value.copy(), isHidden: field.isHidden ?? false)
      }
      _ = try entry.encoded()
    } catch { throw .unreadableLine(error.message) }
    return entry
  }

  private func readSuite(of line: inout ItemLine) throws(CommandError) {
    if let text = texts["suite"] {
      do throws(OTPError) { line.suite = try OCRASuite(text) } catch {
        throw .unreadableLine("\"suite\": \(error.message)")
      }
    }
    guard let counter else { return }
    guard line.suite?.hasCounter == true else {
      throw .unreadableLine("\"counter\" is for credentials whose \"suite\" has C; a URI has its own")
    }
    line.item.state.counter = counter
  }

  private func newItem(_ kind: String, name: String) throws(CommandError) -> NewItem {
    var attributes = Attributes()
    for (key, attribute) in ItemLine.attributes {
      if let text = texts[key], !text.isEmpty { attributes[attribute] = text }
    }
    // Not by the argument `name`, which would also become the account where the line gives none.
    attributes[.name] = name
    var tags: [String] = []
    for tag in self.tags { tags.append(try Tags.checked(tag, named: "a tag")) }
    attributes[.tags] = Tags.attribute(tags)
    var item = NewItem(kind == "otp" ? .otp : .genericPassword, attributes: attributes)
    let accessible = try choice(
      "accessible", values: Dictionary(uniqueKeysWithValues: Accessibility.allCases.map { ($0.word, $0) }))
    item.access = try access(accessible ?? .whenUnlocked)
    item.audit = try choice("audit", values: ["changes": AuditPolicy.changes, "all": .all]) ?? .changes
    item.expiry = try choice("expiry", values: ["warn": ExpiryRule.warn, "refuse": .refuse]) ?? .warn
    guard item.expiry == .warn || item.kind.isGivenWhenExpired else {
      throw .unreadableLine("\"expiry\" is for passwords: an expired credential is refused always")
    }
    item.expires = try numbers["expires"].map { seconds throws(CommandError) in
      let expires = Instant(seconds: seconds)
      guard ItemLimits.expiries.contains(expires) else {
        throw .unreadableLine("\"expires\" is not a number of seconds since 1970, up to the year 9999")
      }
      return expires
    }
    return item
  }

  /// The words of `access`, as `--access` takes them.
  private func access(_ accessible: Accessibility) throws(CommandError) -> AccessControl {
    let words =
      texts["access"]?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
    let known = Constraints.words.map(\.word)
    guard words.allSatisfy(known.contains) else {
      throw .unreadableLine("\"access\" is no comma list of \(known.joined(separator: ", "))")
    }
    let constraints = Constraints(words: words)
    guard !constraints.contains(.applicationPassword) else {
      throw .unreadableLine(
        "an application password is in no file: add the item with 'vaultctl add --access'")
    }
    do throws(VaultError) {
      return try AccessControl(
        constraints, accessibility: accessible, thisDeviceOnly: flags["thisDeviceOnly"] ?? false)
    } catch { throw .unreadableLine(error.message) }
  }

  private func choice<Value>(_ key: String, values: [String: Value]) throws(CommandError) -> Value? {
    guard let text = texts[key] else { return nil }
    guard let value = values[text] else {
      throw .unreadableLine("\"\(key)\" is none of \(values.keys.sorted().joined(separator: ", "))")
    }
    return value
  }
}

extension ItemLine {
  /// The counter of the URI; `nil` where its codes follow the time.
  ///
  /// - Throws: exit 12 for a URI that is none.
  func hotpCounter() throws(CommandError) -> UInt64? {
    do throws(OTPError) {
      guard case .hotp(let counter) = try uri().kind else { return nil }
      return counter
    } catch { throw CommandError(VaultError(otp: error)) }
  }

  /// The URI of a credential without a suite.
  func uri() throws(OTPError) -> OTPAuthURI {
    try secret.expose { (text) throws(OTPError) in
      try OTPAuthURI(parsing: text, allowingWeak: allowsWeak)
    }
  }

  /// The keys that are texts, as they are stored.
  static var attributes: [(String, Attribute<String>)] {
    [("service", .service), ("account", .account), ("label", .label), ("comment", .comment)]
  }
}
