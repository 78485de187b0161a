import JOSE
import SecretMemory
import TextFormats
import VaultCrypto
public import VaultKit

/// A request that a person opens in a browser, to agree that the client gets tokens (RFC 6749 §4.1, with PKCE, RFC 7636). It is
/// for one answer: ``TokenSets/finish(_:with:over:context:)``.
public struct AuthorizationRequest: Sendable {
  /// The address to open.
  public let url: String
  /// What the answer must have, so that it is the answer to this request: 22 characters.
  public let state: String
  /// The registration of the client.
  public let registration: ItemID
  let verifier: SharedSecret
  let redirect: String
  let scope: String?
  let key: ItemID?

  /// - Throws: ``VaultError/Code/unsupported`` where the server has no such page; ``VaultError/Code/io``.
  init(
    of record: RegistrationRecord, _ registration: ItemID, redirect: String, scope: String?,
    key: (id: ItemID, thumbprint: String)?, random: any RandomSource
  ) throws(VaultError) {
    guard let page = record.authorizationEndpoint else {
      throw VaultError(
        .unsupported, "the server has no page on which a person agrees", hint: "use client_credentials")
    }
    let bytes = try random.newSecret(32)
    let verifier = bytes.expose { bytes in
      SecretBytes(capacity: Base64URL.characterCount(of: bytes.byteCount)) {
        Base64URL.encode(bytes, into: &$0)
      }
    }
    let hash = HashAlgorithm.sha256.hash(verifier).expose { $0.array }
    (self.registration, self.redirect, self.scope, self.key) = (registration, redirect, scope, key?.id)
    self.verifier = SharedSecret(verifier)
    state = Base64URL.text(try random.newBytes(16))
    let parameters = [
      ("response_type", "code"), ("client_id", record.client), ("redirect_uri", redirect), ("scope", scope),
      ("state", state), ("code_challenge", Base64URL.text(hash)), ("code_challenge_method", "S256"),
      ("dpop_jkt", key?.thumbprint),
    ]
    let query = parameters.compactMap { name, value in
      value.map { "\(name)=" + $0.utf8.map(PercentEncoding.text(of:)).joined() }
    }
    url = page + (page.contains("?") ? "&" : "?") + query.joined(separator: "&")
  }
}

/// What came back from the browser: the code, or the address of the redirection, which has it.
struct AuthorizationAnswer {
  let code: SharedSecret

  /// - Throws: ``VaultError/Code/policy`` for the answer to another request, or of another server; ``VaultError/Code/malformed``;
  ///   what the server refuses.
  init(
    _ text: borrowing SecretBytes, to request: AuthorizationRequest, of registration: RegistrationRecord
  ) throws(VaultError) {
    guard text.expose({ $0.isAddress }) else {
      code = try Self.checked(SharedSecret(text.copy()))
      return
    }
    let parameters = try Self.parameters(of: text, at: request.redirect)
    guard let state = parameters["state"]?.plain, state.isSame(as: request.state) else {
      throw VaultError(
        .policy, "the redirection is not the answer to this request: its state is another one",
        hint: .requestTokens)
    }
    let issuer = parameters["iss"]?.plain
    // RFC 9207 §2.4. A server that does not say that it names itself may do so all the same.
    guard issuer?.isSame(as: registration.issuer) ?? !registration.namesIssuer else {
      throw VaultError(
        .policy,
        issuer == nil
          ? "the redirection does not name its server" : "the redirection comes from another server",
        hint: .requestTokens)
    }
    if let word = parameters["error"]?.plain { throw OAuthRefusal(word: word).error(of: "the request") }
    guard let code = parameters["code"] else { throw Self.malformed }
    self.code = try Self.checked(code)
  }

  private static func checked(_ code: SharedSecret) throws(VaultError) -> SharedSecret {
    guard 1...4096 ~= code.byteCount, code.isVisibleASCII else { throw malformed }
    return code
  }

  private static func parameters(
    of text: borrowing SecretBytes, at redirect: String
  ) throws(VaultError) -> [String: SharedSecret] {
    let found = text.expose { text -> [String: SharedSecret]? in
      guard let mark = text.firstRange(of: "?") else { return nil }
      let shown = text.extracting(0..<mark.lowerBound).text
      guard Self.normalized(shown).isSame(as: Self.normalized(redirect.prefix { $0 != "?" })) else {
        return nil
      }
      let end = text.firstRange(of: "#")?.lowerBound ?? text.byteCount
      guard mark.upperBound <= end else { return nil }
      return text.extracting(mark.upperBound..<end).formParameters
    }
    guard let found else { throw malformed }
    return found
  }

  /// An address without a query, as every browser shows it: scheme and host in small letters, without the usual port, and with a
  /// path (RFC 3986 §6.2). Of a scheme that is not HTTP's, the letters of the scheme alone.
  private static func normalized(_ address: some StringProtocol) -> String {
    if let target = try? HTTPTarget(String(address)) { return target.text }
    let scheme = address.prefix { $0 != ":" }
    return scheme.lowercased() + address[scheme.endIndex...]
  }

  private static var malformed: VaultError {
    VaultError(
      .malformed, "that is neither a code nor the address to which the server redirected",
      hint: "give the code, or the whole address from the browser")
  }
}

extension SharedSecret {
  /// As text, for what is not secret.
  fileprivate var plain: String { expose { $0.text } }
}

extension RawSpan {
  /// Whether it has marks of an address or of its parameters, which may be percent-encoded. A code alone has none: at most `=` at its
  /// end, as base64 does.
  fileprivate var isAddress: Bool {
    var end = byteCount
    while end > 0, byte(at: end - 1) == UInt8(ascii: "=") { end -= 1 }
    return firstRange(of: ":/") != nil || (0..<end).contains { "?&#=%".utf8.contains(byte(at: $0)) }
  }

  fileprivate func firstRange(of text: StaticString) -> Range<Int>? {
    let wanted = Array("\(text)".utf8)
    guard byteCount >= wanted.count else { return nil }
    for start in 0...byteCount - wanted.count
    where wanted.indices.allSatisfy({ byte(at: start + $0) == wanted[$0] }) {
      return start..<start + wanted.count
    }
    return nil
  }

  /// The parameters of a form; `nil` for one that is there twice, or is not encoded as it must be.
  fileprivate var formParameters: [String: SharedSecret]? {
    var found: [String: SharedSecret] = [:]
    var start = 0
    for end in 0...byteCount where end == byteCount || byte(at: end) == UInt8(ascii: "&") {
      let part = extracting(start..<end)
      start = min(end + 1, byteCount)
      guard part.byteCount > 0 else { continue }
      let equals = part.firstRange(of: "=")
      let name = part.extracting(0..<(equals?.lowerBound ?? part.byteCount)).text
      guard let value = part.extracting((equals?.upperBound ?? part.byteCount)..<part.byteCount).formValue,
        found.updateValue(value, forKey: name) == nil
      else { return nil }
    }
    return found
  }

  private var formValue: SharedSecret? {
    var isWrong = false
    let value = SecretBytes(capacity: byteCount) { output in
      var offset = 0
      while offset < byteCount {
        let byte = byte(at: offset)
        offset += 1
        guard byte == UInt8(ascii: "%") else {
          output.append(byte: byte == UInt8(ascii: "+") ? 0x20 : byte)
          continue
        }
        guard offset + 1 < byteCount, let high = self.byte(at: offset).hexadecimal,
          let low = self.byte(at: offset + 1).hexadecimal
        else {
          isWrong = true
          return
        }
        output.append(byte: high << 4 | low)
        offset += 2
      }
    }
    return isWrong ? nil : SharedSecret(value)
  }
}

extension UInt8 {
  fileprivate var hexadecimal: UInt8? {
    switch self {
    case 0x30...0x39: self - 0x30
    case 0x41...0x46: self - 0x37
    case 0x61...0x66: self - 0x57
    default: nil
    }
  }
}
