import Foundation
import TestSupport
import Testing
import VaultKit
import VaultTestKit

extension Torture {
  /// A new recovery code is in its file before it works. Whatever interrupts that, one of the two codes works, the
  /// vault is sound, and a report that nothing was changed is true.
  @Suite("A recovery code that is made while the disk fails", .bounded, .serialized)
  struct RecoveryCodeFaults {
    @Test(
      "after a kill or a failed synchronization one of the two codes works, and the other does not",
      arguments: ["fsync", "fdatasync", "pwrite64"], ["signal=KILL", "error=EIO"])
    func cutOff(call: String, fault: String) throws {
      try Shell.need("strace")
      let vault = TemporaryVault(in: Place.fast)
      let old = vault.folder + "/old"
      let core = try vault.makeCore()
      try write(core.makeRecoveryCode().text.bytesForTesting, to: old)
      let tool = try Tool(vault)
      var hits = 0
      for number in 1...Scale.pick(call == "pwrite64" ? 8 : 4, long: 40) {
        let file = vault.folder + "/new-\(number)"
        let words = [
          "-f", "-o", "/dev/null", "-e", "trace=\(call)", "-e", "inject=\(call):\(fault):when=\(number)",
        ]
        let process = try Running(
          "strace", words + [Built.path("vaultctl-testing"), "recovery-code", "new", "--out", file],
          environment: tool.environment)
        let said = process.lines().joined(separator: "\n")
        let status = process.wait()
        if status != 0 { hits += 1 }
        let isThere = FileManager.default.fileExists(atPath: file)
        let isNewRight = try isThere && isRight(file, tool)
        let isOldRight = try isRight(old, tool)
        #expect(isOldRight != isNewRight, "\(call) \(number), \(fault): \(said)")
        #expect(status != 0 || isNewRight)
        if fault.hasPrefix("error"), status != 0 {
          expect(status, equals: 13, "\(said)")
          #expect(
            said.contains(isThere ? "vaultctl recovery-code verify" : "the new recovery code opens nothing"))
        }
        if isNewRight {
          try FileManager.default.removeItem(atPath: old)
          try FileManager.default.moveItem(atPath: file, toPath: old)
        }
        try expect(vault.openCore().verify().problems, equals: [])
      }
      #expect(hits > 0, "nothing was hit")
    }

    // Verified to fail on commit b8da9bc: killed at the last `write`, or where that fails, there is a vault with a code that
    // was never printed.
    @Test(
      "init --recovery-code that is cut off leaves no vault with a code that was not printed",
      arguments: ["write", "fsync", "renameat2"], ["signal=KILL", "error=EIO"])
    func initialized(call: String, fault: String) throws {
      try Shell.need("strace")
      var (hits, made) = (0, 0)
      for number in 1...Scale.pick(12, long: 40) {
        let place = TemporaryVault(in: Place.fast)
        let words = [
          "-f", "-o", "/dev/null", "-e", "trace=\(call)", "-e", "inject=\(call):\(fault):when=\(number)",
          Built.path("vaultctl-testing"), "init", "--no-passcode", "--recovery-code", "--json",
        ]
        let environment = ["HOME": place.folder]
        let process = try Running("strace", words, environment: environment, errors: false)
        let printed = process.lines().joined(separator: "\n")
        let status = process.wait()
        hits += status == 0 ? 0 : 1
        let vault = place.folder + "/.local/share/vaultctl/default.vault"
        #expect(status != 0 || FileManager.default.fileExists(atPath: vault))
        guard FileManager.default.fileExists(atPath: vault) else { continue }
        made += 1
        let code = printed.components(separatedBy: "\"recoveryCode\":\"").dropFirst().first?.prefix(39)
        let file = place.folder + "/code"
        try write(Array(String(code ?? "").utf8), to: file)
        let check = try Running(
          Built.path("vaultctl-testing"), ["recovery-code", "verify", "--recovery-file", file],
          environment: environment)
        let said = check.lines().joined(separator: "\n")
        expect(check.wait(), equals: 0, "\(call) \(number), \(fault): '\(printed)', \(said)")
      }
      #expect(hits > 0 && made > 0, "\(hits) faults, \(made) vaults")
    }

    private func isRight(_ file: String, _ tool: Tool) throws -> Bool {
      let process = try tool.start(["recovery-code", "verify", "--recovery-file", file])
      let said = process.lines().joined(separator: "\n")
      let status = process.wait()
      #expect(status == 0 || status == 3, "\(status): \(said)")
      return status == 0
    }

    private func write(_ bytes: [UInt8], to path: String) throws {
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }
  }
}
