import AuthenticatorKit
import SecretMemory
import TextFormats
import VaultKit

/// Reads the answer of a program.
struct AnswerReader {
  private let bytes: ByteReader
  private let json: JSONReader
  private let path: String

  init(_ text: consuming SecretBytes, of path: String) {
    let count = text.byteCount
    bytes = ByteReader(text, count: count)
    json = JSONReader(bytes)
    self.path = path
  }

  /// - Throws: ``VaultError/Code/network`` for what is no answer to the request, and the error that the answer has.
  func answer(to request: TransportRequest) throws(VaultError) -> TransportAnswer {
    let fields: TransportFields
    do throws(TextError) { fields = try line() } catch { throw malformed(Self.words(error)) }
    guard case .number(let version)? = fields["version"] else { throw malformed("'version' is missing") }
    guard version == 1 else { throw malformed("its version is \(version), and this is version 1") }
    guard case .text(request.id)? = fields["id"] else { throw malformed("it has not the id of the request") }
    // Some answers need no member of their own: a program like `cat` would agree to each request.
    guard fields["operation"] == nil else { throw malformed("it is the request") }
    if let error = fields["error"] { throw try peerError(error) }
    return TransportAnswer(TransportFields(fields.all.filter { !["version", "id"].contains($0.name) }))
  }

  private func peerError(_ value: TransportValue) throws(VaultError) -> VaultError {
    guard case .fields(let error) = value, case .text(let code)? = error["code"],
      case .text(let message)? = error["message"]
    else { throw malformed("'error' is no object with a code and a message") }
    var hint: String?
    if let value = error["hint"] {
      guard case .text(let text) = value else { throw malformed("'hint' is no text") }
      hint = text
    }
    var attemptsLeft: Int?
    if let value = error["attemptsLeft"] {
      guard case .number(let number) = value else { throw malformed("'attemptsLeft' is no whole number") }
      attemptsLeft = Int(min(number, 1_000_000))
    }
    var isUnsent = false
    if let value = error["unsent"] {
      guard case .flag(let flag) = value else { throw malformed("'unsent' is neither true nor false") }
      isUnsent = flag
    }
    return VaultError(peer: code, message, hint: hint, attemptsLeft: attemptsLeft, isUnsent: isUnsent)
  }

  /// The request may have been answered, so it is not to be sent again.
  private func malformed(_ flaw: String) -> VaultError {
    .transport(path, "gave a malformed answer: \(flaw)").final()
  }

  /// The name of a member is not secret; its value may be.
  private static func words(_ error: TextError) -> String {
    switch error {
    case .malformed(let why, let member): why + (member.map { ", in '\(VisibleText.escaped($0))'" } ?? "")
    case .member(let name, let why): "'\(VisibleText.escaped(name))' \(why)"
    case .tooLong(let limit, let member):
      "'\(VisibleText.escaped(member ?? ""))' has more than \(limit) bytes"
    case .unreadable: "it cannot be read"
    }
  }
}

// MARK: JSON

extension AnswerReader {
  /// One object on one line, and nothing else.
  private func line() throws(TextError) -> TransportFields {
    guard try bytes.peek() != nil else { throw .malformed("it is empty") }
    let fields = try fields()
    try json.endOfLine()
    _ = try bytes.next()
    guard try bytes.peek() == nil else { throw .malformed("there is more than one line") }
    return fields
  }

  private func fields() throws(TextError) -> TransportFields {
    var all: [(name: String, value: TransportValue)] = []
    var names: Set<String> = []
    try json.object { name throws(TextError) in
      guard names.insert(name).inserted else { throw .member(name, "is there twice") }
      all.append((name, try value(of: name)))
    }
    return TransportFields(all)
  }

  private func value(of name: String) throws(TextError) -> TransportValue {
    switch try json.kind() {
    case .text where name.hasSuffix("Base64"):
      return .secret(TransportSecret(try json.secretFromBase64(limit: Self.longestSecret)))
    case .text: return .text(try json.string(limit: .max))
    case .number: return try json.number().map { .number($0) } ?? .other
    case .word: return try json.word().map { .flag($0) } ?? .other
    case .object: return .fields(try fields())
    case .array: return try texts()
    }
  }

  /// An array: one of texts, or one that no operation has.
  private func texts() throws(TextError) -> TransportValue {
    var texts: [String] = []
    var hasOthers = false
    try json.array { () throws(TextError) in
      if try json.kind() == .text {
        texts.append(try json.string(limit: .max))
      } else {
        hasOthers = true
        try json.skip()
      }
    }
    return hasOthers ? .other : .texts(texts)
  }

  private static let longestSecret = 64 << 10
}
