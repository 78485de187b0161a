import Foundation
import TestSupport
import Testing
import VaultKit
import VaultTestKit

extension Torture {
  /// L8. Many processes open or create a vault at one path, and each adds an item.
  ///
  /// On commit b5afbda, where each process opens and then creates, most of them fail with `vaultExists`. Verified to
  /// fail when a process that finds the path taken does not open the vault, when the lock of the path is not taken,
  /// and when a lock file that a killed process left counts as held.
  @Suite("Open or create, in many processes at once", .bounded, .requirement("L8"), .serialized)
  struct OpenOrCreate {
    @Test("twenty processes on a fresh path get one vault, one creates it, and it has one device key")
    func together() throws {
      for _ in 0..<Scale.pick(3, long: 200) {
        let place = try FreshPlace()
        let gate = try Gate()
        let processes = try (0..<Self.count).map { number in
          try torture("open-or-create", place.folder, "\(number)", gate: gate)
        }
        gate.open()
        let said = place.judge(processes)
        expect(said.created, equals: 1)
        expect(place.keyCount, equals: 1)
        place.judgeVault(items: Self.count...Self.count)
      }
    }

    @Test("one of twenty is killed at one of its calls: all others get one vault, whole, with its key alone")
    func killed() throws {
      try Shell.need("strace")
      let points = try Self.points()
      let step = Scale.isLong ? 1 : max(1, points.count / 14)
      var kills = 0
      var seen: [Int: Int] = [:]
      for (index, (point, isAlone)) in points.enumerated() where (index + Int(Scale.seed)) % step == 0 {
        let place = try FreshPlace()
        let gate = try Gate()
        let others = try (1..<Self.count).map { number in
          try torture("open-or-create", place.folder, "\(number)", gate: gate)
        }
        let log = place.folder + "/calls"
        let victim = try Running("strace", Self.killing(point, log) + Self.words(place))
        // The others begin while it creates the vault, if it gets so far.
        try waitUntil("it has the lock of the path, or has ended") {
          !victim.isRunning
            || (try? String(contentsOfFile: log, encoding: .utf8))?.contains(Self.locked) == true
        }
        gate.open()
        let first = victim.lines()
        let status = victim.wait()
        let isKilled = status == -SIGKILL
        #expect(isKilled || !isAlone && status == 0, "\(point): \(status)")
        kills += isKilled ? 1 : 0
        let said = place.judge(others, also: first, "\(point)")
        seen[said.created, default: 0] += 1
        #expect(said.created <= 1 && (isKilled || said.created == 1), "\(point): \(said.created) created")
        expect(place.keyCount, equals: 1, "\(point): \(place.keyCount) keys")
        place.judgeVault(items: (Self.count - 1)...Self.count, "\(point)")
      }
      report("open or create: \(kills) kills; processes that said they created it: \(seen)")
    }

    private static let count = 20

    private static let calls = [
      "openat", "flock", "mkdir", "write", "pwrite64", "fsync", "fdatasync", "renameat2", "unlinkat",
      "unlink",
      "ftruncate",
    ]

    private static var locked: Regex<Substring> { /flock\([0-9]+, LOCK_EX\|LOCK_NB\) += 0/ }

    /// Each of these calls that a process makes when it creates a vault alone; and whether no other process can do anything
    /// before it, since they wait for the lock and for the vault.
    private static func points() throws -> [(point: SystemCall, isAlone: Bool)] {
      let place = try FreshPlace()
      let log = place.folder + "/calls"
      let process = try Running(
        "strace",
        ["-f", "-o", log, "-e", "trace=" + calls.joined(separator: ",")] + words(place))
      _ = process.lines()
      try #require(process.wait() == 0)
      let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
      // What comes before the lock is the loader's.
      let first = lines.firstIndex { $0.contains(".lock") } ?? 0
      let named = try #require(lines.firstIndex { $0.contains("renameat2(") })
      return calls.flatMap { call in
        let numbers = lines.indices.filter { lines[$0].contains(" \(call)(") }
        return numbers.enumerated().filter { $0.element >= first }
          .map { (SystemCall(name: call, number: $0.offset + 1), $0.element <= named) }
      }
    }

    private static func killing(_ point: SystemCall, _ log: String) -> [String] {
      let inject = "inject=\(point.name):signal=SIGKILL:when=\(point.number)"
      return ["-f", "-o", log, "-e", "trace=flock," + point.name, "-e", inject]
    }

    private static func words(_ place: FreshPlace) -> [String] {
      [Built.path("vault-torture"), "open-or-create", place.folder, "0"]
    }
  }

  /// A directory for a vault that does not exist yet.
  private final class FreshPlace {
    let folder = (Place.fast ?? NSTemporaryDirectory()) + "/vault-fresh-\(UUID().uuidString)"
    private var path: String { folder + "/data/test.vault" }
    private var protector: FileProtector { FileProtector(folder: folder + "/state") }

    init() throws {
      try FileManager.default.createDirectory(
        atPath: folder + "/data", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    var keyCount: Int {
      let found = FileManager.default.enumerator(atPath: folder + "/state")?.compactMap { $0 as? String }
      return (found ?? []).count { $0.hasSuffix(".key") }
    }

    /// Expects that every process got the same vault and added its item.
    ///
    /// - Parameter first: What the process said that may have been killed.
    func judge(
      _ processes: [Running], also first: [String] = [], _ point: String = ""
    ) -> (created: Int, vaults: Set<String>) {
      var (created, vaults): (Int, Set<String>) = (0, [])
      func note(_ line: String?) {
        guard let words = line?.split(separator: " "), words.count == 2 else { return }
        created += words[0] == "created" ? 1 : 0
        vaults.insert(String(words[1]))
      }
      note(first.first)
      for process in processes {
        let lines = process.lines()
        let isDone = process.wait() == 0 && lines.count == 2 && lines[1].hasPrefix("added ")
        #expect(isDone, "\(point): \(lines)")
        note(lines.first)
      }
      expect(vaults.count, equals: 1, "\(point): \(vaults)")
      return (created, vaults)
    }

    /// Expects a whole vault, and nothing else of a vault beside it.
    func judgeVault(items: ClosedRange<Int>, _ point: String = "") {
      let allowed = ["", ".lock", "-wal", "-shm"].map { "test.vault" + $0 }
      let files = (try? FileManager.default.contentsOfDirectory(atPath: folder + "/data")) ?? []
      #expect(Set(files).subtracting(allowed).isEmpty, "\(point): \(files)")
      do {
        let core = try VaultCore.open(at: path, protector: protector, environment: .testing())
        try expect(core.verify().problems, equals: [], "\(point)")
        #expect(try items.contains(core.status().itemCount), "\(point)")
        let made = try core.auditEntries(from: 1).filter { $0.operation == .vaultCreated }
        expect(made.map(\.sequence), equals: [1], "\(point)")
      } catch { Issue.record("\(point): \(error)") }
    }
  }
}
