import OneTimePassword
import SecretMemory
import VaultKit
import VaultTestKit

extension Driver {
  static let loginVerifier = Driver(name: "LoginVerifier") {
    let clock = FixedClock()
    let place = TemporaryVault(TestWorld(clock: clock))
    let vault = try place.make()
    let verifier = LoginVerifier(vault: vault)
    let users = (1...10_000).map { "user \($0)" }
    try await vault.write { vault in
      for user in users { _ = try verifier.enroll(user, in: &vault) }
    }
    let shown = try await vault.write { vault in try verifier.enroll("alice", in: &vault) }

    let uri = try OTPAuthURI(parsing: shown)
    let app = try TOTPGenerator(key: uri.secret)
    let code = try app.code(at: clock.now().seconds).code
    try expect(try await verifier.logIn("alice", code: code) == .accepted, "a code logs in")
    try expect(try await verifier.logIn("alice", code: code) == .refused, "a code logs in once")
    try expect(try await verifier.logIn("user 5000", code: "12345") == .refused, "a short code is refused")
    try expect(try await verifier.logIn("carol", code: code) == .refused, "an unknown user is refused")
    clock.advance(by: .seconds(30))
    let next = try app.code(at: clock.now().seconds).code
    try expect(try await verifier.logIn("alice", code: next) == .accepted, "the next code logs in")
    try expect(try await vault.status().itemCount == 10_001, "every user is enrolled")
  }
}
