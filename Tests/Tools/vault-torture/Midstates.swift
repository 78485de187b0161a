import AuthenticatorKit
import Glibc
import OneTimePassword
import SecretMemory
import VaultKit
import VaultTestKit

/// Hashes a key into midstates in every way that the product has, uses them, and waits while the test searches its
/// memory (R7).
enum Midstates {
  static func run(_ rig: Rig, key: String, isClosed: Bool) {
    do {
      var held: Held? = try Held(rig, key)
      if isClosed { held = nil }
      say("holding")
      waitForStart()
      withExtendedLifetime(held) {}
    } catch {
      say("ERROR \(error)")
      exit(1)
    }
  }

  /// The objects that keep midstates between calls.
  private final class Held {
    let generator: HOTPGenerator
    let bulk: BulkVerifier
    let core: VaultCore

    init(_ rig: Rig, _ key: String) throws {
      core = try rig.open()
      try Held.useVault(core, key)
      var bulk = BulkVerifier(capacity: 40)
      for _ in 0..<40 { _ = try bulk.add(key: Held.secret(key)) }
      self.bulk = bulk
      generator = try HOTPGenerator(key: Held.secret(key))
      let wrong = try OTPCode("000000")
      for counter in 0..<100 as Range<UInt64> { _ = generator.code(at: counter) }
      _ = generator.firstMatch(of: wrong, in: 0...999)
      let queries = (0..<40).map { BulkVerifier.Query(credential: $0, code: wrong, window: 0...20) }
      _ = self.bulk.firstMatches(of: queries)
    }

    /// Codes and verdicts through the vault, whose generators live for one call.
    private static func useVault(_ core: VaultCore, _ key: String) throws {
      for (name, role) in [("prover", OTPRole.prover), ("verifier", .verifier)] {
        let uri = try OTPAuthURI(kind: .hotp(counter: 0), issuer: "i", account: name, secret: secret(key))
        _ = try core.addOTP(uri, named: name, role: role, window: 100)
      }
      let prover = try core.describeOTP(named: "prover").item.id
      let verifier = try core.describeOTP(named: "verifier").item.id
      for _ in 0..<3 {
        let code = try core.nextHOTPCode(of: prover).code
        _ = try core.verifyOTP(of: verifier, code: code)
      }
    }

    private static func secret(_ key: String) -> SecretBytes { SecretBytes(testing: key) }
  }
}
