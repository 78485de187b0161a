import OneTimePassword
import SecretMemory
import VaultKit
import VaultTestKit

extension Driver {
  static let loginVerifier = Driver(name: "LoginVerifier") {
    let clock = FixedClock()
    let place = TemporaryVault(TestWorld(clock: clock))
    let vault = try place.make()
    _ = try await LoginVerifier(vault)
    let verifier = try await LoginVerifier(vault)
    let users = (1...10_000).map { "user \($0)" }
    try await vault.write { vault in
      for user in users { _ = try verifier.enroll(user, in: &vault) }
    }
    let shown = try await vault.write { vault in try verifier.enroll("alice", in: &vault) }

    let uri = try OTPAuthURI(parsing: shown)
    let app = try TOTPGenerator(key: uri.secret)
    let code = try app.code(at: clock.now().seconds).code
    try expect(try await verifier.logIn("alice", code: code), "a code logs in")
    try expect(try await !verifier.logIn("alice", code: code), "a code logs in once")
    try expect(try await !verifier.logIn("user 5000", code: "12345"), "a short code is refused")
    try expect(try await !verifier.logIn("carol", code: code), "an unknown user is refused")
    clock.advance(by: .seconds(30))
    let next = try app.code(at: clock.now().seconds).code
    try expect(try await verifier.logIn("alice", code: next), "the next code logs in")
    try expect(try await vault.status().itemCount == 10_002, "every user is enrolled")
    try await expectNoDifference(verifier, vault, clock)
  }

  /// Wrong codes of a user and of unknown ones: the same answers, and the same work on the disk.
  ///
  /// Verified to fail when an unknown user is refused without a judgement.
  private static func expectNoDifference(
    _ verifier: LoginVerifier, _ vault: Vault, _ clock: FixedClock
  ) async throws {
    for code in ["000000", "000000", "12345", "", "0000000"] {
      var work: [[UInt64]] = []
      for user in ["user 7", "carol", "dave", "no user", "user no user", ""] {
        let before = try await vault.status()
        try expect(try await !verifier.logIn(user, code: code), "a wrong code is refused")
        let after = try await vault.status()
        work.append([after.sequence - before.sequence, after.auditSequence - before.auditSequence])
      }
      try expect(work.allSatisfy { $0 == work[0] }, "the work tells who is a user: \(work)")
      clock.advance(by: .seconds(1))
    }
  }
}
