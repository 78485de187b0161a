import Foundation
import TestSupport
import Testing
import VaultTestKit

extension Torture {
  /// R8. Verified to fail when `Session.sumProblem` omits S, when `segment.start` is unchecked (a real gap, since
  /// closed), when the class is left out of `meta`, of `keys` and of the comparison in `Session.open` (any one of them
  /// is enough to find it), and when a damaged page traps, which ends a process but not the test.
  @Suite("Mutated vaults", .bounded, .requirement("R8"), .serialized)
  struct Mutations {
    /// Half of them with a passcode, a fifth of them so large that opening does not sum up all rows.
    @Test("an altered vault is refused, found by verify, or shows exactly what it held")
    func altered() async throws {
      let count = Scale.pick(1_500, long: 100_000) / 10
      let seed = Scale.seed
      let shapes = [("", 0, 4), ("pass", 0, 4), ("", 300, 1), ("pass", 300, 1)]
      let tallies = try await lanes(2) { lane in
        var tally = Tally()
        for shape in [lane, lane + 2] {
          let subject = try Subject(passcode: shapes[shape].0, extra: shapes[shape].1, seed: seed)
          tally.add(try subject.mutate(count: count * shapes[shape].2, seed: seed &+ UInt64(shape)))
        }
        return tally
      }
      var tally = Tally()
      for part in tallies { tally.add(part) }
      report("R8: \(tally.total) mutated vaults, seed \(seed)\n\(tally.table)")
      expect(tally.failures, equals: [])
      expect(tally.total, equals: count * 10)
      // A judge that sees nothing, or mutations that alter nothing, would pass too.
      #expect(tally.count("refused") + tally.count("found") > tally.total / 3)
      #expect(tally.count("same") > tally.total / 50)
      #expect(tally.count("earlier") > tally.total / 20)
    }
  }

  /// R8 for what each verb that writes leaves behind.
  @Suite("Mutated vaults of every verb", .bounded, .requirement("R8"), .serialized)
  struct VerbMutations {
    @Test("what a verb has just written, altered, is refused, found by verify, or shows what it held")
    func altered() async throws {
      let count = Scale.pick(12, long: 2_000)
      let seed = Scale.seed
      let tallies = try await lanes(2) { lane in
        let homes = ScenarioHomes()
        var tally = Tally()
        for (index, scenario) in Scenario.all.enumerated() where index % 2 == lane {
          let subject = try Subject(scenario, homes.home(of: scenario))
          tally.add(try subject.mutate(count: count, seed: seed &+ UInt64(index)))
        }
        return tally
      }
      var tally = Tally()
      for part in tallies { tally.add(part) }
      report(
        "R8: \(tally.total) mutants of \(Scenario.all.count) calls of verbs, seed \(seed)\n\(tally.table)")
      expect(tally.failures, equals: [])
      expect(tally.total, equals: count * Scenario.all.count)
      #expect(tally.count("refused") + tally.count("found") > tally.total / 3)
    }
  }

  /// Outcomes by kind of mutation.
  struct Tally: Sendable {
    private var counts: [String: Int] = [:]
    private var kinds: Set<String> = []
    var failures: [String] = []

    mutating func note(_ kind: String, _ outcome: String) {
      let word = String(outcome.prefix { $0 != " " })
      counts["\(kind) \(word)", default: 0] += 1
      kinds.insert(kind)
    }

    mutating func add(_ other: Tally) {
      counts.merge(other.counts, uniquingKeysWith: +)
      kinds.formUnion(other.kinds)
      failures += other.failures
    }

    var total: Int { counts.values.reduce(0, +) }

    func count(_ word: String) -> Int {
      counts.filter { $0.key.hasSuffix(" \(word)") }.values.reduce(0, +)
    }

    var table: String {
      let words = ["refused", "found", "same", "earlier", "FAIL", "crash"]
      let head = "kind".padding(toLength: 14, withPad: " ", startingAt: 0) + words.joined(separator: "\t")
      let rows = kinds.sorted().map { kind in
        kind.padding(toLength: 14, withPad: " ", startingAt: 0)
          + words.map { "\(counts["\(kind) \($0)"] ?? 0)" }.joined(separator: "\t")
      }
      return ([head] + rows).joined(separator: "\n")
    }
  }

  /// A vault with a history, in memory-backed files where there are some: the mutants need no disk.
  final class Subject {
    private let folder: String
    private let passcode: String
    private var isKept = false

    init(passcode: String, extra: Int, seed: UInt64) throws {
      folder = (Place.fast ?? NSTemporaryDirectory()) + "/vault-mutants-\(UUID().uuidString)"
      self.passcode = passcode
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
      var states = try Self.run(torture("make", folder, "\(seed)", passcode, "\(extra)"))
      let vault = folder + "/data/test.vault"
      try FileManager.default.copyItem(atPath: vault, toPath: folder + "/old.vault")
      states += try Self.run(torture("change", folder, "\(seed)", passcode))
      try FileManager.default.copyItem(atPath: vault, toPath: folder + "/whole")
      try FileManager.default.copyItem(atPath: vault + "-wal", toPath: folder + "/whole-wal")
      try (states.joined(separator: "\n") + "\n")
        .write(toFile: folder + "/states", atomically: false, encoding: .utf8)
    }

    /// - Parameter home: Reset for the scenario at the next use; a failing file is kept beside it.
    init(_ scenario: Scenario, _ home: ScenarioHome) throws {
      self.home = home
      folder = home.folder
      passcode = ScenarioJudge.passcodes.joined(separator: ",")
      let vault = home.vault
      if home.hasVault { try FileManager.default.copyItem(atPath: vault, toPath: folder + "/old.vault") }
      let held = try home.held(for: scenario)
      try home.run(scenario.words, scenario.input, exit: scenario.exit)
      try FileManager.default.copyItem(atPath: vault, toPath: folder + "/whole")
      // When the verb has replaced the file that is held open, the log beside it does not belong to the new file.
      if FileManager.default.fileExists(atPath: vault + "-wal") {
        try FileManager.default.copyItem(atPath: vault + "-wal", toPath: folder + "/whole-wal")
      }
      held?.close()
      if !FileManager.default.fileExists(atPath: folder + "/old.vault") {
        try FileManager.default.copyItem(atPath: vault, toPath: folder + "/old.vault")
      }
      let states = try Self.run(torture("states", folder, passcode))
      try (states.joined(separator: "\n") + "\n")
        .write(toFile: folder + "/states", atomically: false, encoding: .utf8)
    }

    private var home: ScenarioHome?

    deinit {
      guard home == nil, !isKept else { return }
      try? FileManager.default.removeItem(atPath: folder)
    }

    private static func run(_ process: Running) throws -> [String] {
      let lines = process.lines()
      try #require(process.wait() == 0, "\(lines.last ?? "no output")")
      return lines
    }

    /// Judges so many mutants; where a process dies, the next one goes on behind the mutant it died of.
    func mutate(count: Int, seed: UInt64) throws -> Tally {
      var tally = Tally()
      var next = 0
      while next < count {
        // Without standard error: what a process says there when it crashes is no outcome.
        let process = try Running(
          Built.path("vault-torture"), ["mutate", folder, "\(seed)", passcode, "\(next)", "\(count)"],
          errors: false)
        var begun: [Substring]?
        while let line = process.line() {
          let words = line.split(separator: " ", maxSplits: 2)
          if words.first == "begin" {
            begun = words
            next = Int(words[1])! + 1
            continue
          }
          guard let kind = begun?[2] else { throw Unexpected(line: line) }
          tally.note(String(kind), line)
          if line.hasPrefix("FAIL") { keep(&tally, line, next - 1, seed) }
          begun = nil
        }
        let status = process.wait()
        if let kind = begun?[2] {
          tally.note(String(kind), "crash")
          keep(&tally, "crash \(status) at \(kind)", next - 1, seed)
        }
        guard tally.failures.count < 20 else { return tally }
      }
      return tally
    }

    private func keep(_ tally: inout Tally, _ line: String, _ number: Int, _ seed: UInt64) {
      isKept = true
      if let home { Torture.keepCopy(of: home) }
      tally.failures.append(
        "\(line); again with: vault-torture mutate \(folder) \(seed) '\(passcode)' \(number) \(number + 1)")
    }
  }

  fileprivate static func keepCopy(of home: ScenarioHome) {
    try? FileManager.default.removeItem(atPath: home.folder + "-failed")
    try? FileManager.default.copyItem(atPath: home.folder, toPath: home.folder + "-failed")
  }

  struct Unexpected: Error { let line: String }
}
