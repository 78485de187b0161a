import AuthenticatorKit
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultKit
import VaultTestKit

extension Torture {
  /// R2: the states that a power failure can leave, by replaying what a command did to the disk.
  ///
  /// Verified to fail when the database has `synchronous=OFF` or `NORMAL`, and when the directory of the device key is
  /// not synchronized.
  @Suite("Crash states", .bounded, .requirement("R2"), .serialized)
  struct Crashes {
    @Test(
      "after a crash at any moment of a command the vault opens, nothing acknowledged is lost, no counter comes twice"
    )
    func states() async throws {
      try Shell.need("strace")
      let seed = Scale.seed
      let results = try await lanes(2) { lane in
        let homes = ScenarioHomes()
        return try Scenario.all.enumerated().filter { $0.offset % 2 == lane }.map { index, scenario in
          try CrashSubject(scenario, homes).judge(seed: seed &+ UInt64(index))
        }
      }.flatMap { $0 }
      report(
        "R2: \(results.map(\.judged).reduce(0, +)) states of \(results.count) calls of verbs, seed \(seed)")
      for result in results where Scale.isLong || !result.failures.isEmpty { report("R2: \(result.text)") }
      expect(results.flatMap(\.failures), equals: [])
      // A trace without what counts proves nothing.
      expect(results.filter { !$0.isTelling }.map(\.text), equals: [])
    }
  }

  struct CrashResult: Sendable {
    let name: String
    let seed: UInt64
    var steps = 0
    var judged = 0
    var all = 0
    var done = 0
    var failures: [String] = []
    /// Whether some states were as before the call and some as after it.
    var isTelling = true

    var text: String {
      "\(name): \(steps) steps, \(judged) of \(all) states, \(done) of them done, seed \(seed) \(failures)"
    }
  }

  /// A home that a command works in, once; then it is put into one state after another.
  struct CrashSubject {
    private let scenario: Scenario
    private let home: ScenarioHome
    private let judge: ScenarioJudge

    init(_ scenario: Scenario, _ homes: ScenarioHomes) throws {
      self.scenario = scenario
      home = try homes.home(of: scenario)
      judge = try ScenarioJudge(scenario, in: home)
    }

    func judge(seed: UInt64) throws -> CrashResult {
      var result = CrashResult(name: scenario.description, seed: seed)
      let states = CrashStates(try record(), isSaidLast: scenario.commitsOften)
      let all = states.all(random: Scale.pick(2, long: 40), seed: seed)
      // The short form takes some of them, evenly over the whole command, and beginning and end in every form.
      let most = Scale.pick(16, long: .max)
      let random = SeededRandom(seed: seed)
      (result.steps, result.all) = (states.trace.steps.count, all.count)
      for state in all {
        let isEnd = [0, states.trace.steps.count].contains(state.steps)
        guard all.count <= most || isEnd || random.below(all.count) < most else { continue }
        try states.disk(state).write(below: home.folder)
        let isAcknowledged = state.isAcknowledged && scenario.exit == 0 && !scenario.printsBefore
        let verdict = judge.verdict(isAcknowledged: isAcknowledged)
        result.judged += 1
        result.done += verdict.isDone == true ? 1 : 0
        if !verdict.problems.isEmpty {
          result.failures.append("\(state): \(verdict.problems.joined(separator: ", "))")
        }
        if result.failures.count == 5 { break }
      }
      if scenario.exit == 0 { result.isTelling = result.steps > 3 }
      if judge.isTold { result.isTelling = result.done > 0 && result.done < result.judged }
      return result
    }

    /// Runs the command with every call on a file written down.
    private func record() throws -> CrashTrace {
      let base = try Disk(below: home.folder)
      let log = home.folder + ".log"
      defer { try? FileManager.default.removeItem(atPath: log) }
      try home.run(
        scenario.words, scenario.input,
        before: [
          "strace", "-f", "-xx", "-s", "70000", "-o", log, "-e",
          "trace=" + CrashTrace.calls.joined(separator: ","),
        ], exit: scenario.exit)
      return try CrashTrace(String(contentsOfFile: log, encoding: .utf8), folder: home.folder, base: base)
    }
  }
}
