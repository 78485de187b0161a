import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// A vault whose files may not grow: a limit on file sizes has the errors of a full disk.
@Suite("A vault without room", .bounded)
struct FullDiskTests {
  /// Verified to fail when the vault is only opened as usual, and when nobody is asked who asks.
  @Test("opens with its passcode; for another user, whose attempt could not be counted, it does not")
  func passcode() async {
    await #expect(processExitsWith: .success) {
      signal(SIGXFSZ, SIG_IGN)
      let place = TemporaryVault()
      do {
        let core = try place.makeCore(passcode: "pass")
        _ = try core.add(NewItem(.genericPassword, name: "a"), secret: SecretBytes(testing: "s"))
      }
      limitFileSize(0)
      let core = try place.openCore()
      require(core.isReadOnly && core.lacksRoom, "there is room")
      let other = core.asked(by: Caller(user: geteuid() &+ 1, process: 4711))
      do throws(VaultError) {
        try other.unlock(with: Passcode(testing: "pass"))
        require(false, "unlocked for another user")
      } catch { require(error.code == .io && error.advice == .freeSpace, "\(error)") }
      require(!core.isUnlocked, "unlocked")
      let own = core.asked(by: Caller(user: geteuid(), process: 4711))
      do throws(VaultError) {
        try own.unlock(with: Passcode(testing: "wrong"))
        require(false, "a wrong passcode")
      } catch { require(error.code == .authenticationFailed, "\(error)") }
      try own.unlock(with: Passcode(testing: "pass"))
      require(core.isUnlocked, "locked")
      // There is room again: the same session counts, and writes.
      limitFileSize(.max)
      _ = try core.add(NewItem(.genericPassword, name: "b"))
      require(!core.isReadOnly && !core.lacksRoom, "still without room")
    }
  }
}

/// Ends the process of an exit test if something is not as it should be.
private func require(_ condition: Bool, _ what: @autoclosure () -> String, line: Int = #line) {
  guard !condition else { return }
  print("line \(line): \(what())")
  exit(1)
}

private func limitFileSize(_ byteCount: rlim_t) {
  var limit = rlimit()
  unsafe getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
  limit.rlim_cur = byteCount
  require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0, "setrlimit")
}
