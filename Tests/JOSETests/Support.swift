import Foundation
import JOSE
import SecretMemory
import Testing
import VaultCrypto

enum Files {
  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// How often the tests with random keys run: `VAULT_JOSE_ROUNDS=10000` is the long form.
  static let rounds = ProcessInfo.processInfo.environment["VAULT_JOSE_ROUNDS"].flatMap { Int($0) }
}

/// The values of RFC 7515 A.1, 7638 §3.1 and 9449 §4 (`Tests/Vectors/jose`).
struct Facts: Decodable {
  struct HS256: Decodable {
    let keyJwkK: String
    let jws: String
  }
  struct Thumbprint: Decodable {
    let jwk: [String: String]
    let thumbprint: String
  }
  struct DPoP: Decodable {
    let jwk: [String: String]
    let jkt: String
    let proof: String
    let accessToken: String
    let ath: String
  }

  let hs256: HS256
  let thumbprint: Thumbprint
  let dpop: DPoP

  private enum CodingKeys: String, CodingKey {
    case hs256 = "rfc7515_A1_hs256"
    case thumbprint = "rfc7638_thumbprint"
    case dpop = "rfc9449_dpop"
  }

  static func read() throws -> Facts {
    let data = try Data(contentsOf: Files.root.appending(path: "Tests/Vectors/jose/jose_facts.json"))
    return try JSONDecoder().decode(Facts.self, from: data)
  }
}

extension SecretBytes {
  /// A test's secret, which is none.
  init(_ text: String) { self.init(copying: Array(text.utf8)) }

  var text: String {
    expose { bytes in unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) } }
  }
}

/// Tokens as their makers, and those who attack them, make them.
enum Token {
  /// Three parts, whatever they say.
  static func raw(_ header: String, _ payload: String, _ signature: [UInt8] = []) -> String {
    "\(coded(header)).\(coded(payload)).\(Base64URL.text(signature))"
  }

  static func coded(_ text: String) -> String { Base64URL.text(Array(text.utf8)) }

  /// Signed with HS256, whatever the header says.
  static func hs256(_ header: String, _ payload: String, key: [UInt8]) -> String {
    let input = "\(coded(header)).\(coded(payload))"
    let code = KeyedHMAC(key: SecretBytes(copying: key)).code(for: Array(input.utf8))
    return "\(input).\(Base64URL.text(code))"
  }

  static func read(_ text: String) throws(JOSEError) -> CompactJWS { try CompactJWS(SecretBytes(text)) }
}

extension SigningKey {
  /// Signs as a client does.
  func signed(_ token: consuming UnsignedJWS) throws -> String {
    let scheme = try #require(JWSAlgorithm(of: publicKey).scheme)
    return try token.signed { (bytes) throws(CryptoError) in try sign(bytes, as: scheme) }.text
  }
}

/// Runs the body, and expects this error.
func expect(
  _ expected: JOSEError, _ body: () throws(JOSEError) -> Void, location: SourceLocation = #_sourceLocation
) {
  do throws(JOSEError) {
    try body()
    Issue.record("no error, expected \(expected)", sourceLocation: location)
  } catch {
    #expect(error == expected, sourceLocation: location)
    #expect(!error.message.contains("\n") && !error.message.isEmpty, sourceLocation: location)
  }
}

extension JOSEError {
  var isMalformed: Bool { if case .malformed = self { true } else { false } }
  var isRefusedKey: Bool { if case .refusedKey = self { true } else { false } }
}
