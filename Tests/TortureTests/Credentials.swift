import AuthenticatorKit
import OneTimePassword
import SecretMemory
import VaultKit
import VaultTestKit

extension VaultCore {
  /// Adds the HOTP credential of RFC 4226, appendix D.
  func addTestHOTP(_ name: String, role: OTPRole = .prover) throws {
    let uri = try OTPAuthURI(
      kind: .hotp(counter: 0), account: name, secret: SecretBytes(testing: "12345678901234567890"))
    _ = try addOTP(uri, named: name, role: role)
  }
}

/// The codes of that credential, computed without a vault.
enum Expected {
  static func code(_ counter: UInt64) throws -> String {
    try HOTPGenerator(key: SecretBytes(testing: "12345678901234567890")).code(at: counter)
  }
}
