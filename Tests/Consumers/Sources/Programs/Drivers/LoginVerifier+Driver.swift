import OneTimePassword
import SecretMemory

extension Driver {
  static let loginVerifier = Driver(name: "LoginVerifier") {
    let scene = Scene()
    let verifier = LoginVerifier(vault: try await scene.make())
    let shown = Record()
    try await verifier.enroll("alice") { shown.add($0.text) }
    try await verifier.enroll("bob") { _ in }

    let uri = try OTPAuthURI(parsing: SecretBytes(shown.all[0]))
    let app = try TOTPGenerator(key: uri.secret)
    let code = try app.code(at: Scene.now).code
    try expect(try await verifier.logIn("alice", code: code) == .accepted, "a code logs in")
    try expect(try await verifier.logIn("alice", code: code) == .refused, "a code logs in once")
    try expect(try await verifier.logIn("bob", code: "12345") == .refused, "a short code is refused")
    try expect(try await verifier.logIn("carol", code: code) == .refused, "an unknown user is refused")
  }
}
