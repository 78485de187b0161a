import AuthenticatorKit
import OneTimePassword
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// Offset 112 of the state of a credential: only one without an activation, or an active one, makes and judges codes.
///
/// Verified to fail when the state is not looked at.
@Suite("Credentials whose activation is not complete", .bounded)
struct CredentialStateTests {
  private static let secret = "secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"

  private func add(_ type: String, _ role: OTPRole, to core: VaultCore) throws -> ItemID {
    let name = "\(type) \(role)"
    let uri = SecretBytes(testing: "otpauth://\(type)/\(type)?\(Self.secret)")
    let counter = SecretBytes(testing: "otpauth://\(type)/\(type)?\(Self.secret)&counter=0")
    _ = try core.addOTP(
      OTPAuthURI(parsing: type == "hotp" ? counter : uri), named: name, role: role)
    return try core.item(named: name).id
  }

  private func use(_ core: VaultCore, _ ids: [ItemID]) -> [VaultError.Code?] {
    [
      thrown { () throws(VaultError) in _ = try core.nextHOTPCode(of: ids[0]) }?.code,
      thrown { () throws(VaultError) in _ = try core.reserveHOTPCodes(2, of: ids[0]) }?.code,
      thrown { () throws(VaultError) in _ = try core.timedCode(of: ids[1]) }?.code,
      thrown { () throws(VaultError) in _ = try core.verifyOTP(of: ids[2], code: "000000") }?.code,
      thrown { () throws(VaultError) in _ = try core.verifyOTP(of: ids[3], code: "000000") }?.code,
    ]
  }

  @Test("no code is made or judged in another state", arguments: [1, 3, 4, 5, 6, 255] as [UInt8])
  func other(state number: UInt8) throws {
    let core = try TemporaryVault().makeCore()
    let ids = [
      try add("hotp", .prover, to: core), try add("totp", .prover, to: core),
      try add("hotp", .verifier, to: core), try add("totp", .verifier, to: core),
    ]
    try set(number, of: ids, in: core)
    let expected: VaultError.Code =
      switch number {
      case 1, 5: .wrongState
      case 3, 4: .blocked
      default: .unsupported
      }
    expect(use(core, ids), equals: [expected, expected, expected, expected, expected])
    #expect(try core.state(of: ids[0]).counter == 0 && core.state(of: ids[2]).failures == 0)
    try set(2, of: ids, in: core)
    expect(Array(use(core, ids).prefix(3)), equals: [nil, nil, nil])
  }

  private func set(_ number: UInt8, of ids: [ItemID], in core: VaultCore) throws {
    try core.write { transaction in
      for id in ids { try transaction.changeState(of: id) { $0.bytes[112] = number } }
    }
  }
}
