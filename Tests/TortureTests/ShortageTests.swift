import Foundation
import TestSupport
import Testing

extension Torture {
  /// R23: the verbs that judge a PIN or set one, on a machine that is short of memory or of threads. `vaultctl` itself runs, with
  /// 64 MiB and four lanes for each derivation.
  @Suite("Short of memory, short of threads", .bounded, .requirement("R23"), .serialized)
  struct Shortages {
    /// Verified to fail with ebe6282a: the PIN is blocked after ten of these calls, and the server has taken a code in vain.
    @Test("eleven calls without memory for a derivation block nothing, whatever the verb")
    func memory() throws {
      let homes = ScenarioHomes(tool: "vaultctl")
      for scenario in Self.scenarios {
        let home = try homes.home(of: scenario)
        try home.write("in/input", scenario.input)
        for number in 1...11 {
          let run = try withLittleMemory(scenario, in: home)
          expect(run.status, equals: 13, "\(scenario), call \(number): \(run.errors)")
          #expect(run.errors.contains("not enough memory: the key of the"), "\(scenario): \(run.errors)")
        }
        let run = try home.attempt(scenario.words, scenario.input)
        expect(run.status, equals: scenario.exit, "\(scenario): \(run.errors)")
      }
    }

    /// In each verb the second thread, and in one verb others too: whatever thread of a slice but the first one did not start, the
    /// memory of the others was freed. Verified to fail with ebe6282a: exit 13, or an end by a signal.
    @Test("a thread that does not start ends no verb, and the key is the same")
    func threads() throws {
      _ = try Shell.need("strace")
      let homes = ScenarioHomes(tool: "vaultctl")
      for (index, scenario) in Self.scenarios.enumerated() {
        let home = try homes.home(of: scenario)
        let numbers =
          index > 0 ? [2] : Array(stride(from: 2, through: Self.threads, by: Scale.pick(7, long: 1)))
        for when in numbers.map(String.init) + (index > 0 ? [] : ["1+"]) {
          try home.reset()
          let (run, log) = try traced(
            scenario, in: home, ["-e", "inject=clone3:error=EAGAIN:when=\(when)"])
          expect(run.status, equals: scenario.exit, "\(scenario), thread \(when): \(run.errors)")
          #expect(log.contains("INJECTED"), "\(scenario), thread \(when)")
        }
      }
    }

    /// Verified to fail when CLaneThreads is not linked.
    @Test("where there are threads, each lane of each slice has one")
    func everyLane() throws {
      _ = try Shell.need("strace")
      let scenario = try #require(Self.scenarios.first)
      let (run, log) = try traced(scenario, in: ScenarioHomes(tool: "vaultctl").home(of: scenario), [])
      expect(run.status, equals: 0, "\(run.errors)")
      expect(log.split(separator: "\n").count { $0.contains("clone3(") }, equals: Self.threads)
    }

    /// A limit that the program meets when it obtains the memory of a derivation.
    private func withLittleMemory(_ scenario: Scenario, in home: ScenarioHome) throws -> Program.Result {
      let input = try #require(FileHandle(forReadingAtPath: home.folder + "/in/input"))
      let limited = ["-c", "ulimit -v 90000; exec \"$0\" \"$@\"", Built.path(home.tool)]
      return try Program("sh", limited + home.words(scenario.words), environment: home.environment)
        .run(input: input, errors: .apart)
    }

    private func traced(
      _ scenario: Scenario, in home: ScenarioHome, _ options: [String]
    ) throws -> (ScenarioHome.Run, log: String) {
      let log = home.folder + ".threads"
      defer { try? FileManager.default.removeItem(atPath: log) }
      let strace = ["strace", "-f", "-qq", "-o", log, "-e", "trace=clone3"] + options
      let run = try home.attempt(scenario.words, scenario.input, before: strace)
      return (run, try String(contentsOfFile: log, encoding: .utf8))
    }

    /// Three passes, four slices in each, four lanes in each.
    private static let threads = 48

    private static let scenarios: [Scenario] = {
      let names = [
        "code, behind a checked PIN", "code, behind a camouflaged PIN", "pin verify", "pin change",
        "pin set", "biometry biokey register", "transaction accept", "code, that the server gets",
        "pin verify, for a server", "otp activate finish, behind a PIN that is made first",
        "pin unlock, by a server: a new PIN and a new secret",
      ]
      let found = names.compactMap { name in Scenario.all.first { $0.description == name } }
      precondition(found.count == names.count, "Shortages: a scenario has another name")
      return found
    }()
  }
}
