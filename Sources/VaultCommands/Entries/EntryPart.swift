import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// A part of an item, by the word that names it: FIELD of `get`.
///
/// What an item keeps in the open has a word of its own, and so have the parts of an entry. What people call a part elsewhere is a
/// synonym, unless the entry has a field with that name. Any other word is the name of a field; `field:NAME` is the field in any case,
/// also one that is called like another part.
enum EntryPart: Sendable, Equatable {
  case password
  case notes
  /// The first address.
  case address
  /// All addresses, one on each line.
  case addresses
  case field(String)
  /// What is readable without the passcode.
  case open(OpenPart)
  /// The next code of the one-time-password credential.
  case code
  /// A field with this name, if the entry has one; else the other part.
  indirect case synonym(String, EntryPart)

  /// What an item keeps in attributes.
  enum OpenPart: String, Sendable, CaseIterable {
    case name
    case service
    case account
    case label
    case comment
    case tags
    case host
    case id
  }

  init(_ word: String) {
    switch word {
    case "secret", "password": self = .password
    case "notes": self = .notes
    case "url": self = .address
    case "urls": self = .addresses
    default:
      if let part = OpenPart(rawValue: word) {
        self = .open(part)
      } else if let part = Self.meanings[word] {
        self = .synonym(word, part)
      } else {
        self = .field(word.hasPrefix(Self.prefix) ? String(word.dropFirst(Self.prefix.count)) : word)
      }
    }
  }

  /// What comes before the name of a field, wherever a word can be something else.
  static let prefix = "field:"

  /// What people call a part in other programs.
  private static let meanings: [String: EntryPart] = [
    "user": .open(.account), "username": .open(.account), "login": .open(.account), "uri": .address,
    "website": .address, "note": .notes, "otp": .code, "totp": .code, "code": .code,
  ]

  /// The words that are not names of fields.
  static let words = ["password", "notes", "url", "urls", "code"] + OpenPart.allCases.map(\.rawValue)

  /// What an error calls it.
  var shown: String {
    switch self {
    case .password: "password"
    case .notes: "notes"
    case .address, .addresses: "address"
    case .field(let name): "field \"\(printable(name))\""
    case .open(let part): part.rawValue
    case .code: "one-time code"
    case .synonym(_, let part): part.shown
    }
  }
}

extension ValueKind where Value == EntryPart {
  static var entryPart: ValueKind {
    ValueKind(completedWith: .words(EntryPart.words)) { text, name throws(CommandError) in
      try Names.checkText(text, named: name, upTo: Names.longest + EntryPart.prefix.utf8.count)
      guard !text.isEmpty, text != EntryPart.prefix else { throw .malformed("\(name) is empty") }
      return EntryPart(text)
    }
  }
}

extension Item {
  /// A part that is readable without the passcode; `nil` where it is absent.
  func text(of part: EntryPart.OpenPart) -> String? {
    switch part {
    case .name: name
    case .service: attributes[.service]
    case .account: attributes[.account]
    case .label: attributes[.label]
    case .comment: attributes[.comment]
    case .tags: attributes[.tags]
    case .host: attributes[.server]
    case .id: id.hexadecimal
    }
  }
}

extension EntryContent {
  /// A part that is under the seal.
  ///
  /// - Throws: Exit 1 where the entry has none, with what it has.
  func secret(of part: EntryPart) throws(CommandError) -> SharedSecret {
    guard let secret = found(part) else {
      throw CommandError(
        .notFound, "the entry has no \(part.shown)", hint: partsHint, code: "fieldNotFound")
    }
    return secret
  }

  private func found(_ part: EntryPart) -> SharedSecret? {
    switch part {
    case .password: sharedPassword
    case .notes: sharedNotes
    case .address: sharedAddresses.first
    case .addresses: sharedAddresses.isEmpty ? nil : SharedSecret(sharedAddresses.joinedByLines())
    case .field(let name): (try? field(name))?.shared
    case .open, .code: nil
    case .synonym(let name, let part): (try? field(name))?.shared ?? found(part)
    }
  }

  /// What can be asked for.
  private var partsHint: String {
    var parts: [String] = []
    if sharedPassword != nil { parts.append("password") }
    if sharedNotes != nil { parts.append("notes") }
    if !sharedAddresses.isEmpty { parts.append("url") }
    parts += fields.map { "\"\(printable($0.name))\"" }
    guard !parts.isEmpty else { return "it has nothing else" }
    return "it has \(parts.joined(separator: ", ")): 'get NAME FIELD' prints one"
  }
}

extension [SharedSecret] {
  /// All of them in one, each on a line of its own.
  fileprivate func joinedByLines() -> SecretBytes {
    SecretBytes(capacity: reduce(0) { $0 + $1.byteCount + 1 }) { output in
      for (index, secret) in enumerated() {
        if index > 0 { output.append(byte: UInt8(ascii: "\n")) }
        secret.expose { output.append(copying: $0) }
      }
    }
  }
}

extension JSON {
  /// A secret as text, or as base64 where it is not UTF-8.
  static func text(_ secret: SharedSecret) -> JSON {
    secret.expose { UTF8Text.isValid($0) } ? .secretText(secret) : .secretBase64(secret)
  }
}
