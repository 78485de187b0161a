import AuthenticatorKit
import SecretMemory
import VaultKit
import VaultTestKit

extension Driver {
  static let cardCheckout = Driver(name: "CardCheckout") {
    let checkout = CardCheckout(vault: try TemporaryVault(TestWorld(clock: FixedClock())).make())
    let request = try CardChallengeRequest(id: "req-1", issuer: "5ae1b2", session: "s-1")
    let asked = CardLookup(version: "2.2.0", enrolled: "Y", status: "C")
    let notAsked = CardLookup(version: "2.2.0", enrolled: "Y", status: "Y")
    try expect(
      !(try await checkout.begin("order-6", lookup: notAsked, request: request)), "no challenge is begun")
    try expect(try await checkout.begin("order-7", lookup: asked, request: request), "a challenge is begun")
    let sent = try await checkout.finish("order-7", token: SecretBytes(testing: Service.success))
    guard let token = sent else { throw Unexpected(what: "the answer is for the server") }

    let key = try ServerKey(SecretBytes(testing: "a3b0c442-98fc-1c14-9afb-f4c8996fb924"))
    let server = CardServer(key: key)
    let now = Instant(seconds: 1_700_000_300)
    try expect(try server.isPaid(token, request, at: now), "the server believes the answer")
    let other = try CardChallengeRequest(id: "req-2", issuer: "5ae1b2", session: "s-1")
    try await expectRefusal(.policy, "the answer to another request") {
      _ = try server.isPaid(token, other, at: now)
    }
    let strange = CardServer(
      key: try ServerKey(SecretBytes(testing: "another key that has more than 32 bytes")))
    try await expectRefusal(.authenticationFailed, "another key") {
      _ = try strange.isPaid(token, request, at: now)
    }

    try expect(try await checkout.begin("order-8", lookup: asked, request: request), "a challenge is begun")
    let left = try await checkout.finish("order-8", token: SecretBytes(testing: Service.cancelled))
    if left != nil { throw Unexpected(what: "a person who left pays nothing") }
  }

  private static func expectRefusal(
    _ code: VaultError.Code, _ what: String, _ body: () throws -> Void
  ) async throws {
    do { try body() } catch let error as VaultError {
      return try expect(error.code == code, what)
    }
    throw Unexpected(what: "\(what) is refused")
  }
}

/// Answers of the service to the request `req-1`, signed with the key of the server; they end at 1,700,007,200.
private enum Service {
  static let success =
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJhdWQiOiJyZXEtMSIsImp0aSI6ImFucy0xIiwiaWF0IjoxNzAwMDAwMDAwLCJleHAi"
    + "OjE3MDAwMDcyMDAsImlzcyI6IjVhZTFiMiIsIkNvbnN1bWVyU2Vzc2lvbklkIjoicy0xIiwiUGF5bG9hZCI6IntcIkFjdGlvbkNvZGVc"
    + "IjpcIlNVQ0NFU1NcIixcIkVycm9yTnVtYmVyXCI6MCxcIlZhbGlkYXRlZFwiOnRydWV9In0.66ss3ML3Gq33xJXts21PTWjizrYP-8wj"
    + "fjUr3FT0q1o"
  static let cancelled =
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJhdWQiOiJyZXEtMSIsImp0aSI6ImFucy0xIiwiaWF0IjoxNzAwMDAwMDAwLCJleHAi"
    + "OjE3MDAwMDcyMDAsImlzcyI6IjVhZTFiMiIsIkNvbnN1bWVyU2Vzc2lvbklkIjoicy0xIiwiUGF5bG9hZCI6IntcIkFjdGlvbkNvZGVc"
    + "IjpcIkNBTkNFTFwiLFwiRXJyb3JOdW1iZXJcIjowLFwiVmFsaWRhdGVkXCI6dHJ1ZX0ifQ.BDuB6tQfH0lrn_7YpbzrGplLYGlywfN3b"
    + "5ygszWFebA"
}
