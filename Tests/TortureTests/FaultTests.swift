import AuthenticatorKit
import Foundation
import Glibc
import SecretMemory
import TestSupport
import Testing
import VaultKit
import VaultStorage
import VaultTestKit

extension Torture {
  /// R3 in short. Verified to fail when a COMMIT that fails is taken for one that succeeded.
  @Suite("Failing disks", .bounded, .requirement("R3"), .serialized)
  struct Faults {
    @Test(
      "a code whose commit fails is not shown, and its counter comes again or never, not twice",
      arguments: [
        "fdatasync:error=EIO", "pwrite64:error=EIO", "pwrite64:error=ENOSPC", "fdatasync:error=EINTR",
      ])
    func failedCalls(fault: String) throws {
      try Shell.need("strace")
      let vault = TemporaryVault(in: Place.fast)
      try vault.makeCore().addTestHOTP("counter")
      let tool = try Tool(vault)
      var shown: [UInt64] = []
      var failures = 0
      for number in 1...Scale.pick(16, long: 60) {
        let call = fault.prefix { $0 != ":" }
        let words = ["-f", "-o", "/dev/null", "-e", "trace=\(call)", "-e", "inject=\(fault):when=\(number)"]
        let process = try Running(
          "strace", words + [Built.path("vaultctl-testing"), "code", "counter", "--json"],
          environment: tool.environment, errors: false)
        let output = process.lines()
        let status = process.wait()
        if status != 0 {
          #expect(status == 13 && output == [], "call \(number): \(status), \(output)")
          failures += 1
        } else {
          shown.append(try counter(try #require(output.first)))
        }
        shown.append(try counter(tool.run(["code", "counter", "--json"])))
      }
      #expect(Set(shown).count == shown.count && shown == shown.sorted(), "\(shown)")
      try expect(vault.openCore().verify().problems, equals: [])
      if !fault.hasSuffix("EINTR") { #expect(failures > 0, "nothing was hit") }
    }

    /// Verified to fail with b5afbda: the limit's signal ends the tool.
    @Test(
      "a full disk is exit 13; the old content stays, and everything works when there is room again",
      .requirement("S7"))
    func full() throws {
      let vault = TemporaryVault(in: Place.fast)
      try fill(vault)
      let tool = try Tool(vault)
      var failures = 0
      // In blocks of 512 bytes: a file may not grow beyond it, from nothing at all to enough.
      for limit in stride(from: 0, to: 1_200, by: Scale.pick(60, long: 8)) {
        let gate = try Gate()
        gate.write(String(repeating: "x", count: 60_000))
        gate.open()
        let script = "ulimit -f \(limit); exec \"$0\" item add large-\(limit)"
        let process = try Running(
          "sh", ["-c", script, Built.path("vaultctl-testing")], environment: tool.environment, gate: gate)
        let said = process.lines()
        let status = process.wait()
        #expect(status == 0 || status == 13, "limit \(limit): \(status), \(said)")
        failures += status == 13 ? 1 : 0
        let reopened = try vault.openCore()
        try expect(reopened.verify().problems, equals: [])
        try expect(
          reopened.secret(of: reopened.item(named: "before").id).bytesForTesting, equals: Array("kept".utf8))
        #expect(try reopened.items(matching: Query(name: "large-\(limit)")).count == (status == 0 ? 1 : 0))
      }
      #expect(failures > 0, "the disk was never full")
      try expect(counter(tool.run(["code", "counter", "--json"])), equals: 0)
    }

    /// Verified to fail with b5afbda, which is ended by the signal or calls the vault damaged.
    @Test("a disk that fails to read is exit 13, never a damaged vault", .requirement("S10"))
    func unreadable() throws {
      try Shell.need("strace")
      let vault = TemporaryVault(in: Place.fast)
      try fill(vault)
      let tool = try Tool(vault)
      var failures = 0
      for number in 1...60 {
        let log = vault.folder + "/reads"
        let process = try Running(
          "strace",
          [
            "-f", "-o", log, "-P", vault.path, "-e", "trace=pread64", "-e",
            "inject=pread64:error=EIO:when=\(number)", Built.path("vaultctl-testing"), "get",
            "before",
          ], environment: tool.environment)
        let said = process.lines()
        let status = process.wait()
        guard try String(contentsOfFile: log, encoding: .utf8).contains("INJECTED") else { break }
        #expect(status == 13 || status == 0, "read \(number): \(status), \(said)")
        #expect(!said.contains { $0.contains("damaged") || $0.contains("backup") }, "\(said)")
        failures += status == 13 ? 1 : 0
      }
      #expect(failures > 8, "nothing was hit")
      try expect(vault.openCore().verify().problems, equals: [])
    }

    /// Verified to fail with b5afbda, which waits for a fifth of a second in each command.
    @Test(
      "no command waits long for a reader that keeps the log, and purge says which steps it has done",
      .requirement("S9"))
    func longReader() throws {
      try Shell.need("strace", "faketime")
      let vault = TemporaryVault(in: Place.fast)
      try fill(vault)
      let tool = try Tool(vault)
      var reader = try Store.open(at: vault.path, access: .readOnly)
      try reader.beginRead()
      _ = try reader.head()
      _ = try tool.run(["rm", "--now", "before"])
      let log = vault.folder + "/waits"
      let process = try Running(
        "strace",
        [
          "-f", "-o", log, "-e", "trace=clock_nanosleep,nanosleep",
          // A clock that is a millisecond later each time that it is asked, so once for each pause.
          "faketime", "-f", "+0 i0.001", Built.path("vaultctl-testing"), "ls",
        ],
        environment: tool.environment)
      _ = process.lines()
      expect(process.wait(), equals: 0)
      // A fifth of a second has two hundred pauses.
      let pauses = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").count {
        $0.contains("nanosleep(")
      }
      #expect(1..<40 ~= pauses, "\(pauses)")
      let core = try vault.openCore()
      let before = try core.status().generation
      do throws(VaultError) {
        try core.purge()
        Issue.record("purged beside a reader")
      } catch {
        expect(error.code, equals: .busy)
        #expect(error.message.contains("epoch and device key are rotated"), "\(error.message)")
        expect(error.advice, equals: .purgeAgain)
      }
      try expect(core.status().generation, equals: before + 1)
      reader.rollback()
      try core.purge()
      try expect(vault.openCore().verify().problems, equals: [])
    }

    /// Verified to fail with b5afbda, which synchronizes only the parents of folders that it made itself.
    @Test(
      "a vault and its key are durable also in directories that another program has just made",
      .requirement("S11"))
    func folders() throws {
      try Shell.need("strace")
      let vault = TemporaryVault(in: Place.fast)
      // Folders as a process leaves them that died before it synchronized anything.
      try FileManager.default.createDirectory(
        atPath: vault.folder + "/state/vaultctl", withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      try FileManager.default.createDirectory(
        atPath: vault.folder + "/a/b", withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      let log = vault.folder + "/folders"
      let process = try Running(
        "strace",
        [
          "-f", "-y", "-o", log, "-e", "trace=fsync", Built.path("vaultctl-testing"), "init", "--no-passcode",
        ],
        environment: [
          "VAULTCTL_PATH": vault.folder + "/a/b/v.vault", "XDG_STATE_HOME": vault.folder + "/state",
          "HOME": vault.folder,
        ])
      let said = process.lines()
      expect(process.wait(), equals: 0, "\(said)")
      let text = try String(contentsOfFile: log, encoding: .utf8)
      for folder in ["", "/a", "/a/b", "/state", "/state/vaultctl"] {
        #expect(text.contains("<\(vault.folder)\(folder)>) = 0"), "'\(folder)' is not synchronized")
      }
    }

    @Test("a directory that cannot be written: reading works, writing is exit 13, nothing is made")
    func unwritable() throws {
      let vault = TemporaryVault(in: Place.fast)
      try fill(vault)
      let environment = try Tool(vault).environment
      let data = (vault.path as NSString).deletingLastPathComponent
      let user = try OrdinaryUser(owning: vault.folder)
      func run(_ words: [String], _ more: [String: String] = [:]) throws -> (Int32, [String]) {
        let all = user.tool + words
        let process = try Running(
          all[0], Array(all.dropFirst()), environment: environment.merging(more) { $1 }, errors: false)
        let lines = process.lines()
        return (process.wait(), lines)
      }
      unsafe chmod(data, 0o500)
      defer { unsafe chmod(data, 0o700) }
      let before = try FileManager.default.contentsOfDirectory(atPath: data)
      try expect(run(["ls"]).0, equals: 0)
      #expect(try run(["code", "counter"]) == (13, []))
      try expect(run(["rm", "before"]).0, equals: 13)
      let key = vault.folder + "/new.key"
      let new = ["VAULTCTL_PATH": data + "/new.vault", "VAULTCTL_DEVICE_KEY": key]
      try expect(run(["init", "--no-passcode"], new).0, equals: 13)
      #expect(!FileManager.default.fileExists(atPath: key))
      try expect(FileManager.default.contentsOfDirectory(atPath: data), equals: before)
    }

    /// Leaves the vault closed.
    private func fill(_ vault: TemporaryVault) throws {
      let core = try vault.makeCore()
      _ = try core.add(NewItem(.genericPassword, name: "before"), secret: SecretBytes(testing: "kept"))
      try core.addTestHOTP("counter")
    }

    private func counter(_ json: String) throws -> UInt64 {
      let words = try Reading.counterAndCode(json).split(separator: " ")
      let counter = try #require(UInt64(words[0]))
      try expect(Expected.code(counter), equals: String(words[1]))
      return counter
    }
  }
}
