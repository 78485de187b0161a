import CommandLineKit
import Foundation
import TestSupport
import Testing
import VaultCommands
import VaultTestKit

extension Torture {
  /// R3: each system call of each verb that writes, failing once with each error, and killed there. The long form takes a
  /// sample: of each verb and error one call of every name, and at least 20 calls.
  ///
  /// Verified to fail with the fixes taken out:
  /// - K1: an error path deletes a key that is named: `restore` over nothing, whose folder's `fsync` fails, leaves a vault
  ///   without its key.
  /// - S2: the first entry has a commit of its own: `init` that ends before it leaves a damaged vault.
  /// - A key that a failed commit names is deleted: `vault rotate device-key` whose commit fails, and appears after a crash.
  ///
  /// It has found that `init` said there is no vault when a folder of its path could not be looked at.
  @Suite("Every system call", .bounded, .requirement("R3", "K1", "S2"), .serialized)
  struct SystemCalls {
    @Test(
      "whatever call fails, or is the last: the exit code says it, the vault opens with what was acknowledged, nothing is in clear, and the next command works"
    )
    func every() async throws {
      try Shell.need("strace")
      // The short form makes the same choices each time, so that a failure repeats.
      let seed = Scale.isLong ? Scale.seed : 1
      let scenarios = Scenario.all.filter(Self.isChosen)
      let tables = try await lanes(2) { lane in
        let homes = ScenarioHomes()
        return try scenarios.enumerated().filter { $0.offset % 2 == lane }.map { index, scenario in
          let trial = try SystemCallTrial(scenario, in: homes.home(of: scenario))
          let random = SeededRandom(seed: seed &+ UInt64(index))
          let table = SystemCallTable(
            scenario, calls: trial.calls.count,
            try Scale.isLong ? trial.walk(random, isWhole: Self.isWhole) : trial.sample(3, random))
          if Scale.isLong { report("R3: \(table.text)") }
          for failure in table.failures { report("R3: FAILED: \(failure)") }
          return table
        }
      }.flatMap { $0 }
      report(
        "R3: \(tables.map(\.injections).reduce(0, +)) injections in \(tables.count) calls of verbs, seed \(seed)"
      )
      expect(tables.flatMap(\.failures).count, equals: 0)
      expect(tables.filter { $0.injections == 0 }.map(\.name), equals: [], "nothing was hit")
      expect(tables.flatMap(\.missed), equals: [], "too little was hit")
    }

    private static let variables = ProcessInfo.processInfo.environment

    /// SYSTEM_CALLS_VERB narrows a run to the scenarios whose name begins so.
    private static func isChosen(_ scenario: Scenario) -> Bool {
      variables["SYSTEM_CALLS_VERB"].map { scenario.description.hasPrefix($0) } ?? true
    }

    /// SYSTEM_CALLS_ALL takes every call with every error in the long form: hours.
    private static let isWhole = variables["SYSTEM_CALLS_ALL"] == "1"
  }

  struct Injection: Sendable, CustomStringConvertible {
    let call: SystemCall
    let fault: CallFault
    var description: String { "\(fault.rawValue) at \(call)" }
  }

  struct InjectionResult: Sendable {
    let injection: Injection
    /// The exit code, or minus the signal.
    let status: Int32
    let isHit: Bool
    var failure: String?
  }

  /// A scenario with the calls that it makes.
  struct SystemCallTrial {
    private let scenario: Scenario
    private let home: ScenarioHome
    private let judge: ScenarioJudge
    private let codes: Set<Int32>
    let calls: [SystemCall]

    init(_ scenario: Scenario, in home: ScenarioHome) throws {
      self.scenario = scenario
      self.home = home
      judge = try ScenarioJudge(scenario, in: home)
      calls = try SystemCall.all(of: scenario, in: home)
      let verb = try #require(VerbTable.verb(scenario.verb.split(separator: " ").map(String.init)))
      codes = Set(verb.exitCodes.map(\.rawValue))
    }

    /// So many calls with an error that they can have, or the end there.
    func sample(_ count: Int, _ random: SeededRandom) throws -> [InjectionResult] {
      let lasting = CallFault.allCases.flatMap(candidates).filter(\.call.isLasting)
      return try random.mixed(lasting, by: \.call.name).prefix(count).map(run)
    }

    /// Each error at each call; or, unless that is asked for, at one call of every name, and at more until enough were hit.
    func walk(_ random: SeededRandom, isWhole: Bool) throws -> [InjectionResult] {
      try CallFault.allCases.flatMap { fault in
        let all = candidates(fault)
        if isWhole || fault == .failedCommit { return try all.map(run) }
        let names = Set(all.map(\.call.name)).count
        var results: [InjectionResult] = []
        for (index, injection) in random.mixed(all, by: \.call.name).enumerated() {
          guard index < names || results.count(where: \.isHit) < fault.least else { break }
          results.append(try run(injection))
        }
        return results
      }
    }

    private func candidates(_ fault: CallFault) -> [Injection] {
      calls.filter {
        $0.isChosen && fault.canHit($0) && (fault != .failedCommit || !scenario.needsVaultAlone)
      }
      .map { Injection(call: $0, fault: fault) }
    }

    func run(_ injection: Injection) throws -> InjectionResult {
      try home.reset()
      let log = home.folder + ".injected"
      defer { try? FileManager.default.removeItem(atPath: log) }
      let name = injection.call.name
      let held = try injection.fault == .failedCommit ? home.held(for: scenario) : nil
      let run = try home.attempt(
        scenario.words, scenario.input,
        // Stopping at the one call alone is twice as fast, and then strace 6 sends no signal.
        before: [
          "strace", "-f", injection.fault == .killed ? "-qq" : "--seccomp-bpf", "-qq", "-s", "0", "-e",
          "signal=none", "-o", log, "-e",
          "trace=\(name)", "-e", "inject=\(name):\(injection.fault.injection):when=\(injection.call.number)",
        ])
      let status = run.status == 128 + SIGKILL ? -SIGKILL : run.status
      let isHit =
        status == -SIGKILL
        || (try? String(contentsOfFile: log, encoding: .utf8))?.contains("INJECTED") == true
      if let held { try crash(held) }
      var problems = home.leaks().map { "in clear: \($0)" }
      if let problem = exitProblem(status, injection, isHit, said: run.errors) { problems.append(problem) }
      // A result that is shown was committed before.
      let isAcknowledged =
        (status == 0 && scenario.exit == 0)
        || (!run.output.isEmpty && !scenario.commitsOften && !scenario.printsBefore && judge.isTold)
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

    /// The power fails while somebody else has the vault open still: its log is read from the beginning, with what a failed
    /// commit has left in it.
    private func crash(_ held: RawSQLite.Held) throws {
      let found = try Disk(below: home.folder)
      held.close()
      try found.write(below: home.folder)
    }

    private func exitProblem(_ status: Int32, _ injection: Injection, _ isHit: Bool, said: String) -> String?
    {
      // A transport that does not run is a failure of the peer; what follows an accepted code is a synchronization.
      let isOfPeer = scenario.words.contains("--transport") && [16, 17].contains(status)
      guard isHit else {
        // The transport can come to a call of this number first, and is killed there.
        let isPeerKilled = isOfPeer && injection.fault == .killed && said.contains("was ended by signal 9")
        return status == scenario.exit || isPeerKilled ? nil : "nothing was hit"
      }
      if injection.fault == .killed { return status == -SIGKILL ? nil : "not killed" }
      if status < 0 {
        return injection.call.givesMemory && [-SIGILL, -SIGTRAP, -SIGABRT].contains(status)
          ? nil : "ended by signal \(-status)"
      }
      if !codes.contains(status) { return "no exit code of this verb" }
      return isOfPeer || status == scenario.exit || Self.right(for: injection).contains(status)
        ? nil : "not the exit code of such an error"
    }

    /// 0 where the failure does not matter, 13 for input and output, 11 where it hit the device key. What cannot be read may
    /// be a damaged vault or a disk that fails: nothing tells the one from the other.
    private static func right(for injection: Injection) -> Set<Int32> {
      injection.fault == .inputOutput && injection.call.reads ? [0, 10, 11, 13] : [0, 11, 13]
    }

    /// The next command works: the same call when it was not done, and another one after it.
    private func problemsAfter(_ verdict: ScenarioJudge.Verdict) throws -> [String] {
      var problems: [String] = []
      if verdict.isDone == false, verdict.isAsBefore {
        // An interrupted call may leave its file, and none of these verbs overwrites a file.
        for name in ["items.jsonl", "b.vault", "code", "unlock-key"] {
          try? FileManager.default.removeItem(atPath: home.folder + "/out/" + name)
        }
        // A key that a killed `init` has left in a named file is removed by hand.
        if scenario.verb == "init", scenario.hasNamedKey { try? home.remove("keys/device.key") }
        let again = try home.attempt(scenario.words, scenario.input)
        if again.status != scenario.exit {
          problems.append("the second time: exit \(again.status), \(again.errors)")
        }
        problems += judge.verdict(isAcknowledged: again.status == 0 && scenario.exit == 0).problems.map {
          "the second time: \($0)"
        }
      }
      guard home.hasVault, problems == [] else { return problems }
      let passcode = judge.verdict(isAcknowledged: false).passcode
      if let passcode { try home.write("in/now", passcode) }
      let next = try home.attempt(
        ["add", "the next"] + (passcode == nil ? [] : ["--passcode-file", "@/in/now"]), "secret")
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
      self.results = results
      injections = results.count(where: \.isHit)
    }

    var name: String { scenario.description }
    var failures: [String] { results.compactMap(\.failure) }

    /// The errors that hit fewer calls than they have to. An error that hits none of a verb's calls is none of its own.
    var missed: [String] {
      guard Scale.isLong else { return [] }
      return CallFault.allCases.compactMap { fault in
        let found = results.filter { $0.injection.fault == fault }
        let hits = found.count(where: \.isHit)
        return hits < min(fault.least, found.count) && found.count > 0
          ? "\(name): \(fault.rawValue) \(hits)" : nil
      }
    }

    var text: String {
      let columns = CallFault.allCases.map { fault in
        let found = results.filter { $0.isHit && $0.injection.fault == fault }
        let codes = Dictionary(grouping: found, by: \.status).mapValues(\.count)
        let list = codes.sorted { $0.key < $1.key }.map { "\($0.key)×\($0.value)" }.joined(separator: " ")
        return "\(fault.rawValue) \(found.count) (\(list))"
      }
      return "\(scenario): \(calls) calls; " + columns.joined(separator: ", ")
    }
  }
}
