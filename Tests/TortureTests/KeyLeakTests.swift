import Foundation
import Glibc
import SecretMemory
import TestSupport
import Testing
import VaultCrypto
import VaultKit
import VaultTestKit

extension Torture {
  /// R7 for client keys: files of other programs are imported, and their keys sign. Verified to fail when the DER of a key is
  /// copied into an array that stays, with the decoders of OpenSSL, and with its check of RSA keys.
  @Suite("Client keys leak nowhere", .bounded, .requirement("R7"), .serialized)
  struct KeyLeaks {
    /// Each is imported; the keys are those of the files without encryption beside them.
    private static let files = [
      "p256.chain.p12", "ed25519.encrypted.pem", "p384.openssh", "rsa2048.encrypted.pem",
    ]
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Vectors/key-files").path

    @Test(
      "no private key and no passphrase of a file is in a file, or in memory after the keys were imported or have signed"
    )
    func nowhere() throws {
      try needRoot("client keys in the memory of another process")
      let vault = TemporaryVault(in: Place.fast)
      _ = try vault.makeCore()
      let secrets = try Self.secrets()
      let gate = try Gate()
      let files = Self.files.map { "\(Self.folder)/\($0)" }
      let user = try torture("client-keys", vault.folder, files[0], files[1], files[2], files[3], gate: gate)
      gate.write("correct horse\n")
      try #require(user.line() == "imported")
      try expect(search(user.pid, secrets), equals: [])
      gate.write("\n")
      try #require(user.line() == "signing")
      // While a key is open it must be found, or the search proves nothing.
      #expect(try search(user.pid, secrets).contains("scalar of P-256"))
      for state in ["open", "closed"] {
        gate.write("\n")
        try #require(user.line() == state)
        try expect(search(user.pid, secrets), equals: [], "\(state)")
        try expect(below(vault.folder, secrets), equals: [], "\(state)")
      }
      gate.write("\n")
      expect(user.wait(), equals: 0)
    }

    private struct Secret {
      let name: String
      let bytes: [UInt8]
      /// As it is written, and as OpenSSL keeps numbers: the lowest byte first.
      var forms: [Data] { [Data(bytes), Data(bytes.reversed())] }

      init(name: String, bytes: [UInt8]) { (self.name, self.bytes) = (name, bytes) }

      init(name: String, words: [UInt64]) {
        let bytes = words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
        self.init(name: name, bytes: bytes)
      }
    }

    /// The parts of the keys that nobody else knows, 32 bytes of each.
    private static func secrets() throws -> [Secret] {
      func part(_ file: String, _ name: String, _ range: Range<Int>) throws -> Secret {
        let der = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(file).pkcs8.der"))
        return Secret(name: name, bytes: Array(der[range]))
      }
      return [
        try part("p256", "scalar of P-256", 36..<68), try part("p384", "scalar of P-384", 40..<72),
        try part("ed25519", "seed of Ed25519", 16..<48), try part("rsa2048", "exponent of RSA", 330..<362),
        try part("rsa2048", "prime of RSA", 600..<632), try part("rsa2048", "other prime of RSA", 730..<762),
        try part("rsa2048", "exponent of the prime", 866..<898),
        try part("rsa2048", "exponent of the other prime", 998..<1030),
        try part("rsa2048", "coefficient of RSA", 1130..<1162),
        // Bytes 140 to 171 of (p−1)(q−1), and of the half of it, the least common multiple: either gives the primes away.
        Secret(
          name: "totient",
          words: [0x76e7_4b2e_550b_4599, 0x178d_88f7_8ba9_4f6b, 0x873b_a57b_2850_707d, 0xb0fa_11fc_0130_14fb]),
        Secret(
          name: "multiple",
          words: [0x3b73_a597_2a85_a2cc, 0x8bc6_c47b_c5d4_a7b5, 0xc39d_d2bd_9428_383e, 0xd87d_08fe_0098_0a7d]),
        Secret(name: "passphrase", bytes: Array("correct horse".utf8)),
      ]
    }

    private func search(_ process: pid_t, _ secrets: [Secret]) throws -> Set<String> {
      var found: Set<String> = []
      try ProcessMemory.forEachRegion(of: process) { data in
        for secret in secrets where secret.forms.contains(where: { data.holds($0) }) {
          found.insert(secret.name)
        }
      }
      return found
    }

    private func below(_ folder: String, _ secrets: [Secret]) throws -> [String] {
      (FileManager.default.subpaths(atPath: folder) ?? []).flatMap { path in
        let data = FileManager.default.contents(atPath: folder + "/" + path) ?? Data()
        return secrets.filter { $0.forms.contains { data.holds($0) } }.map {
          "\($0.name) in \(path)"
        }
      }
    }
  }
}
