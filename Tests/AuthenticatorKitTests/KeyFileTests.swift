import AuthenticatorKit
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultCrypto
import VaultExpectations
import VaultKit
import VaultTestKit

/// Files that other programs made, each with what its reading must give: see Tests/Vectors/key-files.
@Suite("Files with a private key", .bounded, .requirement("D7"))
struct KeyFileTests {
  struct Expected: Decodable {
    var passphrase: String?
    var type: String?
    var spki: String?
    var error: String?
    var certificates: [String]?
  }

  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Vectors/key-files")

  static func expected() throws -> [String: Expected] {
    let data = try Data(contentsOf: folder.appendingPathComponent("expected.json"))
    return try JSONDecoder().decode([String: Expected].self, from: data)
  }

  static func bytes(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: folder.appendingPathComponent(name)))
  }

  static let names: [String] = {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return all.filter { !["make", "README.md", "expected.json"].contains($0) }.sorted()
  }()

  @Test("every file of the folder is expected, and every expected file is there")
  func whole() throws {
    #expect(try Self.names == Self.expected().keys.sorted() && Self.names.count > 100)
  }

  /// Verified to fail when the iterations are bounded after the MAC was verified, when the parts of a key are not compared or a half that is
  /// shown beside the key is skipped, when
  /// RC2 counts as 3DES, when the first of three keys is taken, and when the modulus is not examined (`rsa2048.roca`). Where nothing bounds the numbers of RSA, the process ends by a
  /// trap, and `rsa2048.long-prime.der` takes more than a minute.
  @Test("a file gives its key and its certificates, or the error of what is wrong with it", arguments: names)
  func file(name: String) throws {
    let expected = try #require(try Self.expected()[name])
    let core = try TemporaryVault().makeCore()
    let before = try core.status().sequence
    do throws(VaultError) {
      let made = try Self.importing(Self.read(name), expected.passphrase, into: core)
      expect(made.type.rawValue, equals: expected.type, "\(name)")
      expect(Data(made.publicKey.subjectPublicKeyInfo).base64EncodedString(), equals: expected.spki)
      let hashes = made.certificates.map {
        SHA256.hash($0).map { String(format: "%02x", $0) }.joined()
      }
      #expect(hashes == expected.certificates ?? [])
      try Self.check(made, in: core)
    } catch {
      expect(error.code.rawValue, equals: expected.error, "\(name): \(error.message)")
      #expect(!error.message.contains("\n") && !error.message.contains(expected.passphrase ?? "\n"))
      try expect(core.status().sequence, equals: before, "something was stored")
    }
  }

  /// Verified to fail when bags within bags are called a weak encryption.
  @Test(
    "the error says what is wrong with the file",
    arguments: [
      ("p256.nested-bags.p12", "the file has bags within bags, which are not read"),
      ("p256.point-off-the-curve.openssh", "the parts of the key do not belong together"),
      (
        "rsa2048.close-factors.der",
        "the public half of the key gives its factors away: they are close to each other, or of a flawed generator (ROCA)"
      ),
    ])
  func message(name: String, message: String) throws {
    let core = try TemporaryVault().makeCore()
    let error = thrown { () throws(VaultError) in
      _ = try Self.importing(Self.read(name), "correct horse", into: core)
    }
    expect(error?.message, equals: message)
  }

  private static func read(_ name: String) throws(VaultError) -> [UInt8] {
    do { return try bytes(name) } catch { throw VaultError(.io, "the vector cannot be read") }
  }

  static func importing(
    _ bytes: [UInt8], _ passphrase: String?, into core: VaultCore
  ) throws(VaultError) -> ClientKeyDescription {
    let file = try KeyFile(SecretBytes(copying: bytes))
    let secret = passphrase.map { SharedSecret(SecretBytes(testing: $0)) }
    return try core.importClientKey(file, passphrase: secret, NewClientKey(name: "imported"))
  }

  /// The stored key signs for its public half.
  private static func check(_ made: ClientKeyDescription, in core: VaultCore) throws(VaultError) {
    for form in SignatureForm.allCases {
      let signature = try core.signer(of: made.item.id).sign([1, 2, 3], as: form)
      try made.publicKey.verify(signature, of: [1, 2, 3], as: form)
    }
  }

  @Test(
    "each truncation of a file is refused, and stores nothing",
    arguments: ["p256.by-hand.p12", "ed25519.openssh"])
  func truncations(name: String) throws {
    let whole = try Self.bytes(name)
    let core = try TemporaryVault().makeCore()
    let before = try core.status().sequence
    // The last newline of a PEM is not needed.
    for count in stride(from: 0, to: whole.count - 2, by: 3) {
      let error = thrown { () throws(VaultError) in
        _ = try Self.importing(Array(whole[..<count]), "correct horse", into: core)
      }
      expect(error?.code, equals: .malformed, "\(count)")
    }
    try expect(core.status().sequence, equals: before)
  }

  /// One bit at a time: a key that opens all the same is the same key.
  @Test(
    "an altered file is refused, or gives the same key",
    arguments: ["p256.by-hand.p12", "p256.pkcs8.der", "ed25519.openssh", "p256.encrypted-aes128-sha1.der"])
  func alterations(name: String) throws {
    let whole = try Self.bytes(name)
    let expected = try #require(try Self.expected()[name]?.spki)
    let place = TemporaryVault()
    let core = try place.makeCore()
    for index in stride(from: 0, to: whole.count, by: whole.count / 60 + 1) {
      var changed = whole
      changed[index] ^= 1 << UInt8(index % 8)
      do throws(VaultError) {
        let made = try Self.importing(changed, "correct horse", into: core)
        expect(Data(made.publicKey.subjectPublicKeyInfo).base64EncodedString(), equals: expected, "\(index)")
        try core.delete(made.item.id)
      } catch {
        let codes: [VaultError.Code] = [.malformed, .authenticationFailed, .unsupported, .policy]
        #expect(codes.contains(error.code), "\(index): \(error.code)")
      }
    }
  }

  @Test("a file of more than 1 MiB is refused, and so is a PEM with 65 blocks")
  func large() throws {
    expect(.malformed) { () throws(VaultError) in
      _ = try KeyFile(SecretBytes(copying: [UInt8](repeating: 0x30, count: KeyFile.longest + 1)))
    }
    let block = "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"
    expect(.malformed) { () throws(VaultError) in
      _ = try KeyFile(SecretBytes(testing: String(repeating: block, count: 65)))
    }
  }
}
