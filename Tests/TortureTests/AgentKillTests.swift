import AuthenticatorKit
import Foundation
import TestSupport
import Testing
import VaultKit
import VaultTestKit

extension Torture {
  @Suite("Agents and commands of agents that are killed", .bounded, .serialized)
  struct AgentKills {
    @Test(
      "what was acknowledged survives the kill of a command or of the agent, and no counter comes twice",
      .requirement("R1", "R15"), arguments: TorturedAgent.Target.allCases)
    func killed(_ target: TorturedAgent.Target) throws {
      let seed = Scale.seed
      let result = try CommandLife(seed: seed, killing: target).run(kills: Scale.pick(15, long: 500))
      expect(result.faults, equals: [])
      report("R1, \(target.rawValue): \(result.summary), seed \(seed)")
      #expect(result.skipped <= result.kills)
    }

    @Test("of ten imports whose commands are killed before the commit none is done", .requirement("G5"))
    func imports() throws {
      let home = try AgentHome()
      for number in 0..<10 {
        let gate = try Gate()
        let process = try home.start(["import", "jsonl"], gate: gate)
        gate.write(Self.line("first \(number)"))
        try waitUntil("the agent reads") { gate.isEmpty }
        process.kill()
        expect(process.wait(), equals: -SIGKILL)
        gate.write(Self.line("second \(number)"))
        gate.open()
        // The agent closes standard output at the end of the verb.
        expect(process.lines(), equals: [])
      }
      let core = try home.vault.openCore()
      try expect(core.items(matching: Query(.genericPassword)).count, equals: 0)
      try expect(core.verify().problems, equals: [])
      try expect(home.run(["import", "jsonl"], input: Self.line("whole")).status, equals: 0)
      try expect(core.items(matching: Query(.genericPassword)).map(\.name), equals: ["whole"])
    }

    @Test(
      "wrong passcodes that are given while the agent is killed get five derivations together",
      .requirement("R5"))
    func passcodes() throws {
      let home = try AgentHome(passcode: "right", isServing: false)
      let words = ["get", "mail", "--passcode-file", try home.file("wrong", "wrong")]
      var statuses: [Int32] = []
      func attempt(_ end: TorturedAgent.End) throws {
        try home.agent.serving("wrong", end) { statuses.append(try home.run(words).status) }
      }
      // A first attempt shows which calls there are.
      try attempt(.learned)
      for _ in 0..<Scale.pick(8, long: 200) { try attempt(.killed) }
      for _ in 0..<6 { try attempt(.whole) }
      #expect(Set(statuses).isSubset(of: [3, 4, 13]), "\(statuses)")
      expect(statuses.last, equals: 4, "the delay after five")
      let derivations = try home.derivations()
      report("R5: \(home.agent.hits) kills of agents, \(derivations) derivations, seed \(Scale.seed)")
      #expect(derivations <= 5)
    }

    @Test(
      "of many commands at one agent each gets a counter of its own, and one the last use of a token",
      .requirement("R4", "R10"))
    func parallel() async throws {
      let home = try AgentHome()
      try home.vault.openCore().addTestHOTP("counter")
      let put = try home.run(["card", "put", "card", "--ttl", "1h", "--uses", "1"], input: "tok-1")
      expect(put.status, equals: 0)
      let environment = home.environment
      let answers = try await lanes(12) { _ in
        try ["card get card --json", "code counter --json"].map { words in
          let process = try Running(
            Built.path("vaultctl-testing"), words.split(separator: " ").map(String.init),
            environment: environment, errors: false)
          defer { process.wait() }
          return process.lines().joined()
        }
      }
      expect(answers.count { $0[0].contains("tok-1") }, equals: 1)
      expect(answers.count { $0[0].isEmpty }, equals: 11)
      let counters = try answers.map { try Reading.counterAndCode($0[1]) }
      expect(Set(counters).count, equals: 12)
    }

    private static func line(_ name: String) -> String {
      "{\"name\":\"\(name)\",\"kind\":\"password\",\"secret\":\"x\"}\n"
    }
  }
}
