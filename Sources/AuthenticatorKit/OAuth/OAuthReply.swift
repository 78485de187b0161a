import JOSE
import SecretMemory
import TextFormats
import VaultKit

/// A reply of an OAuth server, as a transport to HTTP gives it. What it says is checked where it is read.
struct OAuthReply {
  let status: Int
  /// `DPoP-Nonce`: what the next proof must have.
  let nonce: String?
  /// `Retry-After`, in seconds.
  let retryAfter: Duration?
  private let body: SharedSecret?

  /// - Throws: ``VaultError/Code/network`` for another answer than a reply, and for a nonce that no proof can have.
  init(_ fields: TransportFields) throws(VaultError) {
    let number = try TransportFields.required("status", fields.number("status", 100...599))
    status = Int(number)
    let headers = try fields.secret("headersBase64", 0...Self.longestPart).map(Self.headers) ?? [:]
    nonce = try Self.nonce(headers["dpop-nonce"] ?? [])
    retryAfter = headers["retry-after"]?.first.flatMap { UInt32($0) }.map { .seconds(min($0, 86_400)) }
    body = try fields.secret("bodyBase64", 0...Self.longestPart)
  }

  /// Reads the body, one object of JSON.
  ///
  /// - Parameter member: Reads the value of a member, or returns false: then the value is checked and forgotten.
  /// - Throws: ``VaultError/Code/network``.
  func read(_ member: (String, JSONReader) throws(TextError) -> Bool) throws(VaultError) {
    guard let body, body.byteCount > 0 else { throw .peerAnswered("it is empty") }
    do throws(JOSEError) { try JSONObject.read(body.bytes.copy(), as: "the answer", member) } catch {
      throw .peerAnswered(error.message)
    }
  }

  /// The headers that are looked at: their values are not secret.
  private static func headers(in lines: SharedSecret) -> [String: [String]] {
    var found: [String: [String]] = [:]
    lines.expose { bytes in
      var start = 0
      for end in 0...bytes.byteCount where end == bytes.byteCount || bytes.byte(at: end) == 0x0A {
        for name in ["dpop-nonce", "retry-after"] {
          guard let value = bytes.extracting(start..<end).value(ofHeader: name) else { continue }
          found[name, default: []].append(value)
        }
        start = min(end + 1, bytes.byteCount)
      }
    }
    return found
  }

  private static func nonce(_ values: [String]) throws(VaultError) -> String? {
    guard let value = values.first else { return nil }
    guard values.count == 1, DPoPProof.isNonce(value) else {
      throw .peerAnswered("its DPoP-Nonce is there twice, longer than 1 KiB, or has other characters")
    }
    return value
  }

  private static let longestPart = 64 << 10
}

extension RawSpan {
  /// The value of a line `name: value`, where it is of this header.
  fileprivate func value(ofHeader name: String) -> String? {
    let name = Array((name + ":").utf8)
    guard byteCount >= name.count, name.indices.allSatisfy({ name[$0] == byte(at: $0).lowerCase }) else {
      return nil
    }
    var (start, end) = (name.count, byteCount)
    while start < end, byte(at: start).isBlank { start += 1 }
    while start < end, byte(at: end - 1).isBlank { end -= 1 }
    return extracting(start..<end).text
  }
}

extension UInt8 {
  fileprivate var lowerCase: UInt8 { 0x41...0x5A ~= self ? self + 0x20 : self }
  fileprivate var isBlank: Bool { self == 0x20 || self == 0x09 || self == 0x0D }
}

/// Members of an answer, each of one type; one that is null is as absent. The first one of another type is thrown when the whole
/// answer is known to be JSON.
struct AnswerMembers {
  private(set) var secrets: [String: SharedSecret] = [:]
  private(set) var texts: [String: String] = [:]
  private(set) var numbers: [String: UInt64] = [:]
  private(set) var flags: [String: Bool] = [:]
  private(set) var lists: [String: [String]] = [:]
  private var wrong: String?

  mutating func readSecret(_ name: String, limit: Int, _ reader: JSONReader) throws(TextError) {
    guard try isNext(.text, name, reader) else { return }
    secrets[name] = SharedSecret(try reader.secret(limit: limit))
  }

  mutating func readText(_ name: String, limit: Int, _ reader: JSONReader) throws(TextError) {
    guard try isNext(.text, name, reader) else { return }
    texts[name] = try reader.string(limit: limit)
  }

  /// A whole number of seconds.
  mutating func readSeconds(_ name: String, _ reader: JSONReader) throws(TextError) {
    guard try isNext(.number, name, reader) else { return }
    guard let number = try reader.number(), number <= UInt64(UInt32.max) else { return wrong = wrong ?? name }
    numbers[name] = number
  }

  /// True or false.
  mutating func readFlag(_ name: String, _ reader: JSONReader) throws(TextError) {
    guard try reader.kind() == .word else {
      try reader.skip()
      return wrong = wrong ?? name
    }
    flags[name] = try reader.word()
  }

  /// An array of texts.
  mutating func readTexts(_ name: String, limit: Int, _ reader: JSONReader) throws(TextError) {
    guard try isNext(.array, name, reader) else { return }
    var texts: [String] = []
    var isWrong = false
    try reader.array { () throws(TextError) in
      if try reader.kind() == .text { return texts.append(try reader.string(limit: limit)) }
      isWrong = true
      try reader.skip()
    }
    if isWrong { return wrong = wrong ?? name }
    lists[name] = texts
  }

  private mutating func isNext(
    _ kind: JSONReader.Kind, _ name: String, _ reader: JSONReader
  ) throws(TextError) -> Bool {
    switch try reader.kind() {
    case kind: return true
    case .word: if try reader.word() == nil { return false }
    default: try reader.skip()
    }
    wrong = wrong ?? name
    return false
  }

  /// - Throws: ``VaultError/Code/network``.
  func check() throws(VaultError) {
    if let wrong { throw .peerAnswered("'\(wrong)' has a value that it cannot have") }
  }

  /// A text that shows as itself.
  ///
  /// - Throws: ``VaultError/Code/network``.
  func text(_ name: String, _ counts: ClosedRange<Int>) throws(VaultError) -> String? {
    guard let text = texts[name] else { return nil }
    guard counts.contains(text.utf8.count), VisibleText.flaw(in: text) == nil else {
      throw .peerAnswered("'\(name)' is not a text of \(counts.lowerBound) to \(counts.upperBound) bytes")
    }
    return text
  }

  /// A secret of visible ASCII characters, which can be sent in a header.
  ///
  /// - Throws: ``VaultError/Code/network``.
  func token(_ name: String, _ counts: ClosedRange<Int>) throws(VaultError) -> SharedSecret? {
    guard let secret = secrets[name] else { return nil }
    guard counts.contains(secret.byteCount), secret.isVisibleASCII else {
      throw .peerAnswered("'\(name)' is empty, or has characters that a token cannot have")
    }
    return secret
  }
}

extension SharedSecret {
  var isVisibleASCII: Bool {
    expose { bytes in (0..<bytes.byteCount).allSatisfy { 0x21...0x7E ~= bytes.byte(at: $0) } }
  }
}
