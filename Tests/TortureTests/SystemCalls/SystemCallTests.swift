import Foundation
import Testing
import VaultCommands
import VaultTestKit

extension Torture {
  /// R3: each system call of each verb that writes, failing once with each error, and killed there.
  ///
  /// Verified to fail with commit b5afbda: `restore` over a vault deletes the key that its vault names when the folder's
  /// `fsync` fails (K1); `init` killed between publishing and its first entry leaves a vault that `verify` calls damaged (S2).
  @Suite("Every system call (R3)", .serialized)
  struct SystemCalls {
    @Test(
      "whatever call fails, or is the last: the exit code says it, the vault opens with what was acknowledged, nothing is in clear, and the next command works"
    )
    func every() async throws {
      guard Command.exists("strace") else { return skip("R3, every system call: no strace") }
      let seed = Scale.seed
      let homes = ScenarioHomes()
      var (failures, tables) = ([String](), [SystemCallTable]())
      for (index, scenario) in Scenario.all.enumerated() where Self.isChosen(scenario) {
        let trial = try SystemCallTrial(scenario, in: homes.home(of: scenario))
        let chosen = trial.injections(
          atMost: Scale.pick(6, long: Self.most), SeededRandom(seed: seed &+ UInt64(index)))
        let results = try await lanes(2) { lane in
          let own = try trial.lane()
          return try chosen.enumerated().filter { $0.offset % 2 == lane }.map { try own.run($0.element) }
        }.flatMap { $0 }
        tables.append(SystemCallTable(scenario, calls: trial.calls.count, results))
        failures += results.compactMap(\.failure)
        if Scale.isLong { report("R3: \(tables.last!.text)") }
        #expect(results.contains { $0.isHit }, "\(scenario): nothing was hit")
      }
      report(
        "R3: \(tables.map(\.injections).reduce(0, +)) injections in \(tables.count) calls of verbs, seed \(seed)"
      )
      for failure in failures.prefix(40) { report("R3: FAILED: \(failure)") }
      #expect(failures.count == 0)
    }

    private static let variables = ProcessInfo.processInfo.environment

    /// SYSTEM_CALLS_VERB narrows a run to the scenarios whose name begins so.
    private static func isChosen(_ scenario: Scenario) -> Bool {
      variables["SYSTEM_CALLS_VERB"].map { scenario.testDescription.hasPrefix($0) } ?? true
    }

    /// SYSTEM_CALLS_MOST ends a long run of a scenario after so many injections, spread over all calls and errors.
    private static let most = variables["SYSTEM_CALLS_MOST"].flatMap(Int.init) ?? .max
  }

  struct Injection: Sendable, CustomStringConvertible {
    let call: SystemCall
    let fault: CallFault
    var description: String { "\(fault) at \(call)" }
  }

  struct InjectionResult: Sendable {
    let injection: Injection
    /// The exit code, or minus the signal.
    let status: Int32
    let isHit: Bool
    var failure: String?
  }

  /// A scenario with the calls that it makes.
  final class SystemCallTrial: @unchecked Sendable {  // its lanes share what is fixed when it is made
    private let scenario: Scenario
    private let home: ScenarioHome
    private let judge: ScenarioJudge
    private let base: Disk
    private let codes: Set<Int32>
    let calls: [SystemCall]

    init(_ scenario: Scenario, in home: ScenarioHome) throws {
      self.scenario = scenario
      self.home = home
      judge = try ScenarioJudge(scenario, in: home)
      base = try Disk(below: home.folder)
      calls = try SystemCall.all(of: scenario.words, scenario.input, in: home.copy())
      let verb = try #require(VerbTable.verb(scenario.verb.split(separator: " ").map(String.init)))
      codes = Set(verb.exitCodes.map(\.rawValue))
    }

    private init(_ other: SystemCallTrial) throws {
      (scenario, calls, codes) = (other.scenario, other.calls, other.codes)
      home = try other.home.copy()
      judge = other.judge.moved(to: home)
      base = try Disk(below: home.folder)
    }

    /// The same in a home of its own.
    func lane() throws -> SystemCallTrial { try SystemCallTrial(self) }

    /// Each call with each error that it can have, and the end there; or so many of them.
    func injections(atMost most: Int, _ random: SeededRandom) -> [Injection] {
      var all = CallFault.allCases.flatMap { fault in
        calls.filter { fault == .KILL || $0.canFail() }.map { Injection(call: $0, fault: fault) }
      }
      guard all.count > most else { return all }
      return (0..<most).map { _ in all.remove(at: random.below(all.count)) }
    }

    func run(_ injection: Injection) throws -> InjectionResult {
      try base.write(below: home.folder)
      let log = home.folder + ".injected"
      defer { try? FileManager.default.removeItem(atPath: log) }
      let name = injection.call.name
      let run = try home.attempt(
        scenario.words, scenario.input,
        before: [
          "strace", "-f", "--seccomp-bpf", "-qq", "-s", "0", "-e", "signal=none", "-o", log, "-e",
          "trace=\(name)", "-e", "inject=\(name):\(injection.fault.injection):when=\(injection.call.number)",
        ])
      let status = run.status == 128 + SIGKILL ? -SIGKILL : run.status
      let isHit =
        status == -SIGKILL
        || (try? String(contentsOfFile: log, encoding: .utf8))?.contains("INJECTED") == true
      var problems = home.leaks().map { "in clear: \($0)" }
      if let problem = exitProblem(status, injection, isHit) { problems.append(problem) }
      // What is shown was committed before.
      let isAcknowledged = status == 0 || (!run.output.isEmpty && !scenario.commitsOften && judge.isTold)
      let verdict = judge.verdict(isAcknowledged: isAcknowledged)
      problems += verdict.problems
      if verdict.problems == [] { problems += try problemsAfter(verdict) }
      let failure =
        problems.isEmpty
        ? nil
        : "\(scenario): \(injection): exit \(status), \(problems.joined(separator: "; ")); said: "
          + (run.output + [run.errors]).joined(separator: " | ")
      return InjectionResult(injection: injection, status: status, isHit: isHit, failure: failure)
    }

    private func exitProblem(_ status: Int32, _ injection: Injection, _ isHit: Bool) -> String? {
      guard isHit else { return status == 0 ? nil : "nothing was hit" }
      if injection.fault == .KILL { return status == -SIGKILL ? nil : "not killed" }
      if status < 0 {
        return injection.call.givesMemory && [-SIGILL, -SIGTRAP, -SIGABRT].contains(status)
          ? nil : "ended by signal \(-status)"
      }
      if !codes.contains(status) { return "no exit code of this verb" }
      return Self.right(for: injection).contains(status) ? nil : "not the exit code of such an error"
    }

    /// 0 where the failure does not matter, 13 for input and output, 11 where it hit the device key.
    private static func right(for injection: Injection) -> Set<Int32> {
      [0, 11, 13]
    }

    /// The next command works: what was not done can be done now, and something else after it.
    private func problemsAfter(_ verdict: ScenarioJudge.Verdict) throws -> [String] {
      var problems: [String] = []
      if verdict.isDone == false {
        for name in ["items.jsonl", "b.vault"] {
          try? FileManager.default.removeItem(atPath: home.folder + "/out/" + name)
        }
        let again = try home.attempt(scenario.words, scenario.input)
        if again.status != 0 { problems.append("the second time: exit \(again.status), \(again.errors)") }
        problems += judge.verdict(isAcknowledged: again.status == 0).problems.map { "the second time: \($0)" }
      }
      guard home.hasVault, problems == [] else { return problems }
      let passcode = judge.verdict(isAcknowledged: false).passcode
      if let passcode { try home.write("in/now", passcode) }
      let next = try home.attempt(
        ["item", "add", "the next"] + (passcode == nil ? [] : ["--passcode-file", "@/in/now"]), "secret")
      if next.status != 0 { problems.append("the next command: exit \(next.status), \(next.errors)") }
      return problems
    }
  }

  /// The exit codes of a scenario, one column for each error.
  struct SystemCallTable {
    private let scenario: Scenario
    private let calls: Int
    private let results: [InjectionResult]
    let injections: Int

    init(_ scenario: Scenario, calls: Int, _ results: [InjectionResult]) {
      (self.scenario, self.calls) = (scenario, calls)
      self.results = results.filter(\.isHit)
      injections = self.results.count
    }

    var text: String {
      let columns = CallFault.allCases.map { fault in
        let found = results.filter { $0.injection.fault == fault }
        let codes = Dictionary(grouping: found, by: \.status).mapValues(\.count)
        let list = codes.sorted { $0.key < $1.key }.map { "\($0.key)×\($0.value)" }.joined(separator: " ")
        return "\(fault.rawValue) \(found.count) (\(list))"
      }
      return "\(scenario): \(calls) calls; " + columns.joined(separator: ", ")
    }
  }
}
