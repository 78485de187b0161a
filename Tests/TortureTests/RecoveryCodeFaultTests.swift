import Foundation
import Testing
import VaultKit
import VaultTestKit

extension Torture {
  /// A new recovery code is in its file before it works. Whatever interrupts that, one of the two codes works, the
  /// vault is sound, and a report that nothing was changed is true.
  @Suite("A recovery code that is made while the disk fails", .serialized)
  struct RecoveryCodeFaults {
    @Test(
      "after a kill or a failed synchronization one of the two codes works, and the other does not",
      arguments: ["fsync", "fdatasync", "pwrite64"], ["signal=KILL", "error=EIO"])
    func cutOff(call: String, fault: String) throws {
      guard Command.exists("strace") else { return skip("recovery codes on failing disks: no strace") }
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
          "strace", words + [Program.tool, "recovery-code", "new", "--out", file],
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
          #expect(status == 13, "\(said)")
          #expect(
            said.contains(isThere ? "vaultctl recovery-code check" : "the new recovery code opens nothing"))
        }
        if isNewRight {
          try FileManager.default.removeItem(atPath: old)
          try FileManager.default.moveItem(atPath: file, toPath: old)
        }
        #expect(try vault.openCore().verify().problems == [])
      }
      #expect(hits > 0, "nothing was hit")
    }

    private func isRight(_ file: String, _ tool: Tool) throws -> Bool {
      let process = try tool.start(["recovery-code", "check", "--recovery-file", file])
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
