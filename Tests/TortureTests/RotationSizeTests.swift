import AuthenticatorKit
import Foundation
import Glibc
import SecretMemory
import TestSupport
import Testing
import VaultKit
import VaultTestKit

extension Torture {
  /// S4: a commit of a rotation changes nearly every page of the indexes, whatever its size, so commits have to be few.
  @Suite("What a rotation writes", .bounded, .requirement("S4"), .serialized)
  struct RotationSize {
    /// Each case begins with the same vault, so that the two have the same pages. The long form takes one to two minutes.
    ///
    /// Verified to fail with commits of 500 rows, which write 4.3 times the file at 10,000 items. Batches that end when their time is
    /// over (commit 1a77a28b) write 35 times the file on the clock that goes on by a second at each look.
    @Test(
      "a rotation of the epoch writes at most four times the file, log and file together, whatever the clock does",
      arguments: [nil, 1_000])
    func bytes(step: Int?) throws {
      let count = Scale.pick(10_000, long: 100_000)
      let vault = TemporaryVault(in: Place.fast)
      try fill(vault, count)
      let size = try byteCount(vault.path)
      let (written, batches) = try rotated(vault, step: step)
      report(
        "rotation: \(count) items, file \(size) bytes, written \(written) bytes: "
          + "\(Double(written * 100 / size) / 100) times, in batches that end at \(batches)")
      #expect(written <= 4 * size)
      let ends = stride(from: 16_000, to: count, by: 16_000).map { $0 } + [count]
      expect(batches, equals: "\(ends)")
      let core = try vault.openCore()
      #expect(try core.status().generation == 2 && core.verify().problems == [])
    }

    /// The rotation and the rewriting of the file together, on the clock of the second case.
    @Test("a purge writes at most six times the file, its VACUUM with it")
    func purge() throws {
      let vault = TemporaryVault(in: Place.fast)
      try fill(vault, Scale.pick(10_000, long: 100_000))
      let size = try byteCount(vault.path)
      let (written, _) = try rotated(vault, step: 1_000, purges: true)
      report("purge: file \(size) bytes, written \(written): \(Double(written * 100 / size) / 100) times")
      #expect(written <= 6 * size)
      try expect(vault.openCore().verify().problems, equals: [])
    }

    @Test("another process writes during a rotation, and finds no file there but SQLite's own")
    func beside() throws {
      let vault = TemporaryVault(in: Place.fast)
      try fill(vault, Scale.pick(3_000, long: 100_000))
      let core = try vault.openCore()
      let gate = try Gate()
      let process = try torture("rotate-counted", vault.folder, "stop", gate: gate)
      expect(process.line(), equals: "moving")
      var (files, commits): (Set<String>, Int) = ([], 0)
      while process.isRunning {
        _ = try core.add(NewItem(.genericPassword, name: "beside \(commits)"))
        commits += 1
        files.formUnion(try FileManager.default.contentsOfDirectory(atPath: vault.folder + "/data"))
        // The first one was written in the middle of it.
        gate.open()
      }
      #expect(process.lines().last?.hasPrefix("bytes ") == true && process.wait() == 0)
      #expect(try core.status().generation == 2 && !core.isRotating)
      #expect(files.isSubset(of: ["test.vault", "test.vault-wal", "test.vault-shm"]))
      try expect(core.verify().problems, equals: [])
      report("rotation: \(commits) commits of another process meanwhile")
    }

    /// - Parameter step: How far its clock goes on at each look, in milliseconds; `nil` for one that stands still.
    private func rotated(
      _ vault: TemporaryVault, step: Int?, purges: Bool = false
    ) throws -> (bytes: Int, batches: String) {
      var environment = ["VAULT_TORTURE_BOOT": "1000000"]
      environment["VAULT_TORTURE_STEP"] = step.map(String.init)
      let process = try Running(
        Built.path("vault-torture"), ["rotate-counted", vault.folder] + (purges ? ["vault", "purge"] : []),
        environment: environment)
      let lines = process.lines()
      expect(process.wait(), equals: 0, "\(lines)")
      func value(_ word: String) throws -> Substring {
        try #require(lines.last { $0.hasPrefix(word + " ") }).dropFirst(word.count + 1)
      }
      return (try #require(Int(value("bytes"))), String(try value("batches")))
    }

    private func fill(_ vault: TemporaryVault, _ count: Int) throws {
      let core = try vault.makeCore()
      for start in stride(from: 0, to: count, by: 10_000) {
        try core.write { transaction in
          for number in start..<min(start + 10_000, count) {
            var new = NewItem(number % 5 == 0 ? .otp : .genericPassword, name: "item \(number)")
            new.attributes[.service] = "service \(number % 1_000)"
            new.attributes[.account] = "account \(number)"
            _ = try transaction.add(
              new, secret: SecretBytes(testing: "secret \(number)"), by: Component(new.kind))
          }
        }
      }
    }

    private func byteCount(_ path: String) throws -> Int {
      var entry = stat()
      try #require(unsafe stat(path, &entry) == 0)
      return Int(entry.st_size)
    }
  }
}
