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
  /// What it was before, the oldest first.
  var former: [NewFormer] = []
  /// Whether it is the one-time code of the entry in the line before.
  var isOfEntry = false

  package var name: String { item.attributes[.name] ?? "" }

  /// What it holds in secret memory.
  var secretByteCount: Int {
    former.reduce(entry?.secretByteCount ?? secret.byteCount) { $0 + $1.content.secretByteCount }
  }
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

  struct Fields {
    var seen: Set<String> = []
    var texts: [String: String] = [:]
    var flags: [String: Bool] = [:]
    var numbers: [String: Int64] = [:]
    var counter: UInt64?
    var tags: [String] = []
    var content = ContentFields()
    var former: [ContentFields] = []
  }

  /// What is sealed: of the item, or of a former version of it.
  struct ContentFields {
    var seen: Set<String> = []
    var until: Int64?
    var secret: SharedSecret?
    var notes: SharedSecret?
    var addresses: [SharedSecret] = []
    var own: [OwnField] = []
  }

  struct OwnField {
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
    case "thisDeviceOnly", "needsResync", "exhausted", "ofEntry": fields.flags[key] = try json.boolean()
    case "expires", "trashUntil": fields.numbers[key] = try expiry()
    case "created", "modified", "window": fields.numbers[key] = try json.integer()
    case "counter": fields.counter = try json.unsigned()
    case "uri":
      fields.content.secret = SharedSecret(try json.secret(limit: OTPAuthURI.maximumByteCount))
      fields.content.seen.insert(key)
    case "tags":
      try json.array { () throws(TextError) in fields.tags.append(try json.string(limit: Names.longest)) }
    case "former":
      try json.array { () throws(TextError) in
        guard fields.former.count < ItemLimits.formerCount else {
          throw .malformed("too many former versions: an entry has at most \(ItemLimits.formerCount)")
        }
        fields.former.append(try former())
      }
    default:
      guard try content(of: key, into: &fields.content) else {
        throw .member(key, "is unknown to this version")
      }
    }
  }

  /// - Returns: Whether the key is one of what is sealed.
  private func content(of key: String, into fields: inout ContentFields) throws(TextError) -> Bool {
    switch key {
    case "secret": fields.secret = SharedSecret(try json.secret(limit: SecretReading.longestSecret))
    case "secretBase64":
      fields.secret = SharedSecret(try json.secretFromBase64(limit: SecretReading.longestSecret))
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
    default: return false
    }
    fields.seen.insert(key)
    return true
  }
}

extension ItemLineReader {
  /// One of `former`: what the entry kept, and until when.
  private func former() throws(TextError) -> ContentFields {
    var fields = ContentFields()
    try json.object { key throws(TextError) in
      if key == "until", fields.until == nil { return fields.until = try json.integer() }
      guard !fields.seen.contains(key), try content(of: key, into: &fields) else {
        throw .member(key, "is none of until, secret, secretBase64, notes, urls, fields, or is given twice")
      }
    }
    return fields
  }

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
