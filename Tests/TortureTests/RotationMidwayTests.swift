import AuthenticatorKit
import Foundation
import Glibc
import SecretMemory
import TestSupport
import Testing
import VaultKit
import VaultTestKit

extension Torture {
  /// K3, K4: each change of keys while two generations are in force, killed at a system call, while another process reads.
  ///
  /// Verified to fail when `KeyChange.putRoots` leaves the slots of the old generation out.
  @Suite(
    "Key changes in the middle of a rotation that are killed", .bounded, .requirement("K3", "K4"), .serialized
  )
  struct RotationMidway {
    @Test(
      "every item opens afterwards, and the rotation ends",
      arguments: ["passcode", "device-key", "recover", "backup"])
    func killed(change: String) throws {
      let kills = Scale.pick(8, long: 200)
      let seed = Scale.seed
      let commands = try KilledCommands("vault-torture", random: SeededRandom(seed: seed))
      var done = 0
      var isFirst = true
      while isFirst || commands.hits < kills {
        let vault = TemporaryVault(in: Place.fast)
        let code = try begin(vault)
        if change == "recover" { try loseKey(vault) }
        let isWatched = change != "recover"
        let gate = try Gate()
        let watcher =
          try isWatched ? torture("watch", vault.folder, "pass", "40", "\(seed)", gate: gate) : nil
        let words = ["midway", vault.folder, change, "pass", code]
        let said = try isFirst ? commands.learn(change, words) : commands.run(change, words).lines
        isFirst = false
        #expect(!said.contains { $0.hasPrefix("ERROR") }, "\(said)")
        done += said.contains("done") ? 1 : 0
        gate.open()
        if let watcher {
          // It has the old passcode, which is wrong after a change.
          let watched = watcher.lines()
          let isWrong = watched.last?.hasPrefix("ERROR authenticationFailed") == true
          #expect(watcher.wait() == 0 || (change == "passcode" && isWrong), "\(watched.suffix(2))")
        }
        try checkWhole(vault, change, code)
      }
      report("midway: \(change): \(commands.summary), \(done) changes acknowledged, seed \(seed)")
    }

    /// Items of both generations, and a rotation under way. Returns the recovery code.
    private func begin(_ vault: TemporaryVault) throws -> String {
      let core = try vault.makeCore(passcode: "pass")
      let code = try core.makeRecoveryCode().text
      try add(core, 0..<20)
      try core.beginRotation(passcode: Passcode(testing: "pass"))
      try add(core, 20..<40)
      return String(decoding: code.bytesForTesting, as: UTF8.self)
    }

    private func add(_ core: VaultCore, _ numbers: Range<Int>) throws {
      try core.write { transaction in
        for number in numbers {
          let access = AccessControl(number % 2 == 0 ? .whenUnlocked : .afterFirstUnlock)
          _ = try transaction.add(
            NewItem(number % 5 == 0 ? .otp : .genericPassword, name: "n\(number)", access: access),
            secret: SecretBytes(testing: "secret of n\(number)"),
            by: Component(number % 5 == 0 ? .otp : .genericPassword))
        }
      }
    }

    private func loseKey(_ vault: TemporaryVault) throws {
      let status = try vault.openCore().status()
      try vault.protector.deleteKey(status.deviceKey, of: status.vault)
    }

    private func checkWhole(_ vault: TemporaryVault, _ change: String, _ code: String) throws {
      let core: VaultCore
      do throws(VaultError) { core = try vault.openCore() } catch {
        // Killed before its commit: the key is still lost, and the code still works.
        try #require(change == "recover" && error.code == .deviceKeyAbsent)
        core = try VaultCore.recover(
          at: vault.path, with: RecoveryCode(text: SecretBytes(testing: code)), protector: vault.protector,
          environment: vault.environment
        ).core
      }
      var passcode = "pass"
      do throws(VaultError) { try core.unlock(with: Passcode(testing: passcode)) } catch {
        try #require(change == "passcode" && error.code == .authenticationFailed)
        passcode = "pass changed"
        try core.unlock(with: Passcode(testing: passcode))
      }
      #expect(core.isRotating)
      try check(core)
      try core.rotateEpoch(passcode: Passcode(testing: passcode))
      #expect(!core.isRotating)
      try check(core)
    }

    private func check(_ core: VaultCore) throws {
      for number in 0..<40 {
        let secret = try core.secret(
          of: core.item(named: "n\(number)").id,
          by: Component(number % 5 == 0 ? .otp : .genericPassword))
        expect(secret.bytesForTesting, equals: Array("secret of n\(number)".utf8))
      }
      try expect(core.verify().problems, equals: [])
    }
  }
}
