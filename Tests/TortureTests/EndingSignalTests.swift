import Foundation
import TestSupport
import Testing
import VaultCommands
import VaultKit
import VaultTestKit

extension Torture {
  /// Verbs that make a file or a key or commit, and a signal that can be caught at a system call that others notice: at each call that
  /// names something or synchronizes a commit, and at a sample of the others (at all of them in the long form).
  ///
  /// On commit c41b4145 `export`, `init` and `recovery-code new` end by a signal that comes with the naming, with their file in place.
  @Suite("Signals and changes", .bounded, .serialized)
  struct EndingSignals {
    @Test(
      "a verb that a signal ends has made nothing; one whose file has its name ends as without the signal",
      arguments: Scenario.all.filter(Torture.EndingSignals.makesFile))
    func ended(scenario: Scenario) throws {
      try Shell.need("strace")
      let home = try ScenarioHomes().home(of: scenario)
      let judge = try ScenarioJudge(scenario, in: home)
      let calls = try SystemCall.all(of: scenario, in: home).filter(\.isNoticed)
      try home.reset()
      let isTelling = try !home.attempt(scenario.words, scenario.input).output.isEmpty
      try home.reset()
      let before = try Self.files(in: home)
      var (done, absent) = (0, 0)
      for (index, call) in Self.chosen(calls).enumerated() {
        try home.reset()
        let signal = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"][index % 4]
        let run = try home.attempt(scenario.words, scenario.input, before: call.signalling(signal))
        let verdict = judge.verdict(isAcknowledged: run.status == 0)
        let what = "\(signal) at \(call): exit \(run.status), \(run.output), \(run.errors)"
        expect(verdict.problems, equals: [], "\(what)")
        let made = try Self.files(in: home).subtracting(before)
        // Where the judge cannot tell, the new file does.
        #expect((verdict.isDone ?? !made.isEmpty) == (run.status == 0), "\(what)")
        if run.status == 0 {
          done += 1
          #expect(run.output.isEmpty != isTelling, "\(what)")
        } else {
          absent += 1
          expect(made.sorted(), equals: [], "\(what)")
        }
      }
      report("\(scenario) and signals: \(absent) made nothing, \(done) were done")
      #expect(done > 0 && absent > 0)
    }

    @Test(
      "a verb that a signal ends has committed nothing; one that has committed ends as without the signal",
      arguments: Scenario.all.filter(Torture.EndingSignals.onlyCommits))
    func committed(scenario: Scenario) throws {
      try Shell.need("strace")
      let home = try ScenarioHomes().home(of: scenario)
      let judge = try ScenarioJudge(scenario, in: home)
      let calls = try SystemCall.all(of: scenario, in: home).filter(\.isNoticed)
      try home.reset()
      let isTelling = try !home.attempt(scenario.words, scenario.input).output.isEmpty
      var (done, absent) = (0, 0)
      for (index, call) in Self.aroundCommits(calls).enumerated() {
        try home.reset()
        let signal = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"][index % 4]
        let run = try home.attempt(scenario.words, scenario.input, before: call.signalling(signal))
        let verdict = judge.verdict(isAcknowledged: run.status == 0)
        let what = "\(signal) at \(call): exit \(run.status), \(run.output), \(run.errors)"
        expect(verdict.problems, equals: [], "\(what)")
        if let isDone = verdict.isDone { #expect(isDone == (run.status == 0), "\(what)") }
        #expect(run.output.isEmpty != (isTelling && run.status == 0), "\(what)")
        if run.status == 0 { done += 1 } else { absent += 1 }
      }
      report("\(scenario) and signals: \(absent) changed nothing, \(done) were done")
      #expect(done > 0 && absent > 0)
    }

    @Test(
      "a rotation that a signal ends between two of its commits says what was done, and goes on at the next opening",
      arguments: ["SIGTERM", "SIGINT"])
    func between(signal: String) throws {
      try Shell.need("strace")
      let vault = TemporaryVault(in: Place.fast)
      let core = try vault.makeCore()
      for index in 0..<5 { _ = try core.add(NewItem(.genericPassword, name: "n\(index)")) }
      let generation = try core.status().generation
      let before = ["strace", "-qq", "-o", "/dev/null", "-e", "inject=fdatasync:signal=\(signal):when=2"]
      let process = try Running(
        before[0], before.dropFirst() + [Built.path("vaultctl-testing"), "vault", "rotate", "epoch"],
        environment: Tool(vault).environment)
      let said = process.lines().joined(separator: "\n")
      expect(process.wait(), equals: signal == "SIGINT" ? 130 : -SIGTERM, "\(said)")
      #expect(said.contains("what was done before that stays: rotated"), "\(said)")
      let again = try vault.openCore()
      expect(again.isRotating, equals: true)
      try again.rotateEpoch()
      try expect(again.status().generation, equals: generation + 1)
      try expect(again.verify().problems, equals: [])
    }

    /// Verbs that make no file, ask no server, and commit once or complete what they have begun; and the doctor, which removes a key.
    /// Opening a vault may already end what is due.
    static func onlyCommits(_ scenario: Scenario) -> Bool {
      guard let verb = VerbTable.verb(scenario.verb.split(separator: " ").map(String.init)) else {
        return false
      }
      return (verb.audited == .always || scenario.verb == "doctor") && verb.commitSignals == .held
        && !makesFile(scenario) && !scenario.words.contains("-")
        && scenario.exit == 0 && scenario.verb != "card clear" && !scenario.words.contains("--transport")
    }

    /// The first call is before every commit, and the last one after all of them.
    private static func aroundCommits(_ calls: [SystemCall]) -> [SystemCall] {
      let ends = [calls.first, calls.last].compactMap(\.self)
      let (commits, others) = (
        calls.filter { $0.name == "fdatasync" },
        calls.dropFirst().dropLast().filter { $0.name != "fdatasync" }
      )
      let rest = SeededRandom(seed: Scale.seed).mixed(others, by: \.name)
      return ends + commits + rest.prefix(Scale.pick(6, long: .max))
    }

    static func makesFile(_ scenario: Scenario) -> Bool {
      let verbs = ["init", "export", "backup", "restore", "recovery-code new", "vault rotate device-key"]
      // A backup to standard output makes none.
      return verbs.contains(scenario.verb) && !scenario.words.contains("-")
        || scenario.words.contains("--unlock-key-out") || scenario.words.contains("--out")
    }

    private static let naming: Set<String> = ["link", "linkat", "rename", "renameat", "renameat2"]

    /// The first call is before every naming, and the last one after it.
    private static func chosen(_ calls: [SystemCall]) -> [SystemCall] {
      let ends = [calls.first, calls.last].compactMap(\.self)
      let rest = SeededRandom(seed: Scale.seed).mixed(
        calls.dropFirst().dropLast().filter { !naming.contains($0.name) }, by: \.name)
      return ends + calls.filter { naming.contains($0.name) } + rest.prefix(Scale.pick(16, long: .max))
    }

    /// The files in the home, without those that SQLite keeps beside an open vault.
    private static func files(in home: ScenarioHome) throws -> Set<String> {
      let names = try FileManager.default.subpathsOfDirectory(atPath: home.folder)
      return Set(
        try names.filter { name in
          let type = try FileManager.default.attributesOfItem(atPath: home.folder + "/" + name)[.type]
          return type as? FileAttributeType != .typeDirectory
            && !["-wal", "-shm", ".seen"].contains(where: name.hasSuffix)
        })
    }
  }
}
