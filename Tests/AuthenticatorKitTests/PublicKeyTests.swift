import AuthenticatorKit
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// What others take a public key by, compared with what they make themselves of the private one.
@Suite("Public keys", .bounded, .requirement("D7"))
struct PublicKeyTests {
  private func imported(_ name: String) throws -> PublicKey {
    try KeyFileTests.importing(KeyFileTests.bytes(name), nil, into: TemporaryVault().makeCore()).publicKey
  }

  private func path(_ name: String) -> String { KeyFileTests.folder.appendingPathComponent(name).path }

  private func output(_ program: String, _ words: [String]) throws -> String {
    let run = try Program(program, words).run(errors: .inherited)
    expect(run.status, equals: 0, "\(program) \(words)")
    return run.text
  }

  @Test("the PEM is what OpenSSL prints", arguments: ClientKeyType.allCases)
  func pem(type: ClientKeyType) throws {
    let name = "\(type.rawValue).pkcs8.pem"
    try expect(imported(name).pem, equals: output("openssl", ["pkey", "-in", path(name), "-pubout"]))
  }

  @Test(
    "the line of SSH is what ssh-keygen prints",
    arguments: ["ed25519.openssh", "p256.openssh", "p384.openssh", "rsa2048.openssh"])
  func ssh(name: String) throws {
    let copy = FileManager.default.temporaryDirectory.appendingPathComponent("key-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: copy) }
    try Data(KeyFileTests.bytes(name)).write(to: copy)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: copy.path)
    let line = try output("ssh-keygen", ["-y", "-f", copy.path])
    let words = line.split(whereSeparator: \.isWhitespace)
    try expect(words.prefix(2).joined(separator: " "), equals: imported(name).ssh)
  }

  /// Verified to fail when the pin is made of the point alone.
  @Test("pin and JWK are what Python's cryptography makes of the key", arguments: ClientKeyType.allCases)
  func python(type: ClientKeyType) throws {
    let name = "\(type.rawValue).pkcs8.pem"
    let script = """
      import base64, hashlib, json, sys
      from cryptography.hazmat.primitives import serialization as s
      key = s.load_pem_private_key(open(sys.argv[1], "rb").read(), None).public_key()
      b = lambda data: base64.urlsafe_b64encode(data).rstrip(b"=").decode()
      i = lambda n, count=None: b(n.to_bytes(count or (n.bit_length() + 7) // 8, "big"))
      der = key.public_bytes(s.Encoding.DER, s.PublicFormat.SubjectPublicKeyInfo)
      if hasattr(key, "curve"):
          n = key.public_numbers(); size = key.curve.key_size // 8
          jwk = {"kty": "EC", "crv": f"P-{key.curve.key_size}", "x": i(n.x, size), "y": i(n.y, size)}
      elif hasattr(key, "key_size"):
          n = key.public_numbers(); jwk = {"kty": "RSA", "n": i(n.n), "e": i(n.e)}
      else:
          jwk = {"kty": "OKP", "crv": "Ed25519", "x": b(key.public_bytes(s.Encoding.Raw, s.PublicFormat.Raw))}
      print(base64.b64encode(hashlib.sha256(der).digest()).decode())
      print(json.dumps(jwk, sort_keys=True, separators=(",", ":")))
      """
    let key = try imported(name)
    try expect(output("/usr/bin/python3", ["-c", script, path(name)]), equals: "\(key.pin)\n\(key.jwk)\n")
  }

  private static let judge = """
    import json, sys
    from cryptography.hazmat.primitives import hashes, serialization as s
    from cryptography.hazmat.primitives.asymmetric import ec, padding
    key = s.load_pem_private_key(open(sys.argv[1], "rb").read(), None)
    def more():
        if hasattr(key, "curve"):
            return [ec.ECDSA(hashes.SHA384() if key.key_size == 384 else hashes.SHA256())]
        return [padding.PKCS1v15(), hashes.SHA256()] if hasattr(key, "key_size") else []
    for line in sys.stdin:
        text, signature = map(bytes.fromhex, line.split())
        key.public_key().verify(signature, text, *more())
        print(key.sign(text[::-1], *more()).hex())
    """

  @Test(
    "Python's cryptography verifies our signatures of random data, and we its",
    arguments: ClientKeyType.allCases)
  func signatures(type: ClientKeyType) throws {
    let core = try TemporaryVault().makeCore()
    let name = "\(type.rawValue).pkcs8.pem"
    let made = try KeyFileTests.importing(KeyFileTests.bytes(name), nil, into: core)
    let signer = try core.signer(of: made.item.id)
    var random = SeededGenerator()
    let texts = (1...100).map { random.bytes($0) }
    func hexadecimal(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }
    let lines = try texts.map { try "\(hexadecimal($0)) \(hexadecimal(signer.sign($0, as: .der)))\n" }
    let input = try Scratch(Array(lines.joined().utf8))
    let run = try Program("/usr/bin/python3", ["-c", Self.judge, path(name)]).run(
      input: FileHandle(fileDescriptor: input.descriptor), errors: .inherited)
    let theirs = run.text.split(separator: "\n")
    #expect(run.status == 0 && theirs.count == texts.count)
    for (text, line) in zip(texts, theirs) {
      let digits = Array(line.utf8)
      let signature = stride(from: 0, to: digits.count, by: 2).compactMap {
        UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
      }
      try made.publicKey.verify(signature, of: text.reversed(), as: .der)
    }
  }

  @Test("the key of RFC 8037 appendix A.2 has its JWK, and the point of RFC 7515 appendix A.3 is a key")
  func published() throws {
    let ed25519: [UInt8] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00]
    let half = try #require(Data(base64Encoded: "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="))
    let key = try PublicKey(subjectPublicKeyInfo: ed25519 + half)
    #expect(key.jwk == #"{"crv":"Ed25519","kty":"OKP","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#)
    #expect(key.point == Array(half) && key.modulus == nil && key.exponent == nil && key.type == .ed25519)
  }

  @Test("what is not exactly a public key of a known kind is refused")
  func refused() throws {
    let good = try imported("p256.pkcs8.pem")
    let spki = good.subjectPublicKeyInfo
    #expect(try PublicKey(subjectPublicKeyInfo: spki) == good && good.point?.count == 65)
    var offCurve = spki
    offCurve[90] ^= 1
    let compressed = Array(spki.prefix(26)) + [2 + spki[90] & 1] + spki[27..<59]
    for bytes in [[], [0x30], Array(spki.dropLast()), spki + [0], offCurve, compressed] {
      expect(.malformed) { () throws(VaultError) in _ = try PublicKey(subjectPublicKeyInfo: bytes) }
    }
    let rsa = try imported("rsa2048.pkcs8.pem")
    #expect(rsa.exponent == [1, 0, 1] && rsa.modulus?.count == 256 && rsa.point == nil)
    // The exponent is the end of the structure.
    var one = rsa.subjectPublicKeyInfo
    one.replaceSubrange(one.count - 3..<one.count, with: [0, 0, 1])
    expect(.malformed) { () throws(VaultError) in _ = try PublicKey(subjectPublicKeyInfo: one) }
  }
}
