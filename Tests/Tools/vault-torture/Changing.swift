import AuthenticatorKit
import Glibc
import SecretMemory
import VaultKit
import VaultTestKit

/// Changes the vault commit by commit, prints its content after each commit, and ends without closing it, so that the
/// log stays (R8).
enum Changing {
  static func run(_ rig: Rig, seed: UInt64, passcode: String) {
    do throws(VaultError) {
      let core = try rig.open()
      if !passcode.isEmpty { try unlock(core, passcode: passcode) }
      for step in Step.allCases where step != .passcode || !passcode.isEmpty {
        try take(step, core: core, passcode: passcode)
        try Content(of: core).say(to: 1)
      }
      // The vault is still open, so no commit is moved from the log into the file.
      withExtendedLifetime(core) { _exit(0) }
    } catch { fail("change: \(error.word) \(error.message)") }
  }

  /// Tries a wrong passcode first. Its failure is counted, and the right passcode resets the count.
  private static func unlock(_ core: VaultCore, passcode: String) throws(VaultError) {
    try? core.unlock(with: Passcode(testing: "wrong"))
    let afterFailure = try Content.status(core)
    try core.unlock(with: Passcode(testing: passcode))
    let content = try Content(of: core)
    Content(status: afterFailure, items: content.items).say(to: 1)
    content.say(to: 1)
  }

  /// Each step leaves old rows that a mutation can put back. No step after `delete` deletes a secret, so the log
  /// keeps every commit.
  private enum Step: CaseIterable {
    case passcode, secret, delete, add, label, code, nextCode, lastCode, wrongCode
  }

  private static func take(_ step: Step, core: VaultCore, passcode: String) throws(VaultError) {
    switch step {
    case .passcode:
      try core.changePasscode(from: Passcode(testing: passcode), to: Passcode(testing: passcode))
    case .secret:
      let id = try core.item(named: "class 0").id
      try core.update(id, ItemChanges(), secret: SecretBytes(testing: "second secret"))
    case .delete: try core.delete(Query(name: "without"))
    case .add:
      _ = try core.add(NewItem(.genericPassword, name: "new"), secret: SecretBytes(testing: "new secret"))
    case .label:
      var changes = ItemChanges()
      changes.attributes[.label] = "second label"
      try core.update(core.item(named: "class 1").id, changes)
    case .code, .nextCode, .lastCode: _ = try core.nextHOTPCode(of: core.item(named: "hotp 1").id)
    case .wrongCode: _ = try? core.verifyOTP(of: core.item(named: "hotp 2").id, code: "000000")
    }
  }
}
