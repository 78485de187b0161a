import AuthenticatorKit
import Glibc
import OneTimePassword
import SecretMemory
import VaultKit
import VaultTestKit

/// Uses every key of the rows, locks or closes the vault, and waits while the test searches its memory (R7).
enum Ciphers {
  static func run(_ rig: Rig, passcode: String, state: String) {
    do {
      var core: VaultCore? = try rig.open()
      try core!.unlock(with: Passcode(testing: passcode))
      try use(core!)
      switch state {
      case "open": break
      case "locked": core!.lock()
      case "closed": core = nil
      default: fail("no such state")
      }
      say("holding")
      waitForStart()
      // A locked vault still works, because it derives the ciphers that it needs again.
      if state == "locked" {
        _ = try core!.items(matching: Query())
        try core!.unlock(with: Passcode(testing: passcode))
        try use(core!)
      }
      say("done")
      core = nil
    } catch {
      say("ERROR \(error)")
      exit(1)
    }
  }

  /// Seals and opens attributes, states, head rows and audit entries.
  private static func use(_ core: VaultCore) throws {
    let uri = try OTPAuthURI(
      kind: .hotp(counter: 0), account: "a", secret: SecretBytes(testing: "12345678901234567890"))
    let id = try core.addOTP(uri, named: "n\(core.environment.clock.now().milliseconds)-\(getpid())").item.id
    for _ in 0..<3 { _ = try core.nextHOTPCode(of: id) }
    _ = try core.items(matching: Query())
    _ = try core.auditEntries()
    guard try core.verify().problems.isEmpty else { fail("the vault is not sound") }
    _ = try core.delete(Query(id: id))
  }
}
