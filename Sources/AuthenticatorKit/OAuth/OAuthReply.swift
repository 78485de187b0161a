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

  /// - Throws: ``VaultError/Code/network`` for another answer than a reply.
  init(_ fields: TransportFields) throws(VaultError) {
    let number = try TransportFields.required("status", fields.number("status", 100...599))
    status = Int(number)
    let headers = try fields.secret("headersBase64", 0...Self.longestPart).map(Self.headers) ?? [:]
    nonce = Self.nonce(headers["dpop-nonce"] ?? [])
    retryAfter = headers["retry-after"]?.first.flatMap { UInt32($0) }.map { .seconds(min($0, 86_400)) }
    body = try fields.secret("bodyBase64", 0...Self.longestPart)?.withoutByteOrderMark
  }

  /// Whether the server says by the status that it did what was asked. An `error` in the body says otherwise.
  var isSuccess: Bool { 200...299 ~= status }

  /// Reads the body, one object of JSON.
  ///
  /// - Parameter member: Reads the value of a member, or returns false: then nothing depends on the value, whatever it is.
  /// - Throws: ``VaultError/Code/network``.
  func read(_ member: (String, JSONReader) throws(TextError) -> Bool) throws(VaultError) {
    guard let body, body.byteCount > 0 else { throw .peerAnswered("it is empty") }
    let reader = JSONReader(
      ByteReader(body.bytes.copy()), spansLines: true, longestName: Self.longestPart)
    do throws(TextError) {
      var read: Set<String> = []
      try reader.object { name throws(TextError) in
        guard !read.contains(name) else { throw .member(name, "is there twice") }
        if try member(name, reader) { read.insert(name) } else { try reader.passOver() }
      }
      guard try !reader.findLine() else { throw .malformed("there is text after the object") }
    } catch { throw .peerAnswered("it is not readable JSON: \(Self.words(error))") }
  }

  /// Whether the body is an object of JSON.
  var isObject: Bool { (try? read { _, _ in false }) != nil }

  /// The names are left out: the server chose them.
  private static func words(_ error: TextError) -> String {
    switch error {
    case .malformed(let why, _): why
    case .member(_, let why): "a member \(why)"
    case .tooLong(let limit, _): "a text is longer than \(limit) bytes"
    case .unreadable: "it cannot be read"
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

  /// `nil` for one that no proof can have, and for two: tokens may be in the same reply.
  private static func nonce(_ values: [String]) -> String? {
    guard let value = values.first, values.count == 1, DPoPProof.isNonce(value) else { return nil }
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

extension SharedSecret {
  /// Some servers begin their JSON with U+FEFF (RFC 8259 §8.1 lets a reader ignore it).
  fileprivate var withoutByteOrderMark: SharedSecret {
    expose { bytes in
      guard bytes.byteCount >= 3, (0..<3).allSatisfy({ bytes.byte(at: $0) == [0xEF, 0xBB, 0xBF][$0] }) else {
        return self
      }
      return SharedSecret(SecretBytes(copying: bytes.extracting(3..<bytes.byteCount)))
    }
  }
}
