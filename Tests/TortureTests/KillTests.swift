import AuthenticatorKit
import Foundation
import Glibc
import TestSupport
import Testing
import VaultKit
import VaultTestKit

extension Torture {
  /// R1. Verified to fail when the counter is written back unchanged once in 97 codes, when a put is acknowledged
  /// before its commit, and when the log omits the entry of one update in seven (R15).
  @Suite("Killed processes", .bounded, .requirement("R1", "R15"), .serialized)
  struct Kills {
    @Test(
      "what was acknowledged survives SIGKILL, no counter comes twice, at most one is skipped per kill",
      arguments: KillMoment.allCases)
    func killed(_ moment: KillMoment) async throws {
      let kills = Scale.pick(200, long: 4_000) / 2
      let seed = Scale.seed
      let results = try await lanes(2) { lane in
        try Life(seed: seed &+ UInt64(lane) &* 1_000_003).run(kills: kills, moment)
      }
      for result in results {
        expect(result.faults, equals: [])
        report("R1, \(moment.rawValue): \(result.summary), seed \(seed)")
        #expect(result.skipped <= result.kills)
      }
    }

    @Test("the same for the commands, one process each")
    func killedCommands() async throws {
      let kills = Scale.pick(160, long: 2_000) / 2
      let seed = Scale.seed
      let results = try await lanes(2) { lane in
        try CommandLife(seed: seed &+ UInt64(lane) &* 7_000_003).run(kills: kills)
      }
      for result in results {
        expect(result.faults, equals: [])
        report("R1, commands: \(result.summary), seed \(seed)")
        #expect(result.skipped <= result.kills)
      }
    }
  }

  struct KillResult: Sendable {
    var kills = 0
    var operations = 0
    /// Kills between an intent and its acknowledgment.
    var cutShort = 0
    var codes = 0
    var skipped = 0
    var faults: [String] = []

    var summary: String {
      "\(kills) kills, \(operations) operations acknowledged, \(cutShort) cut short, \(codes) codes, \(skipped) skipped"
    }
  }

  /// What a vault must hold by what was said, and by what may or may not have been done.
  struct Model {
    var items: [String: String] = [:]
    var pending: [String]?
    /// Operations that took effect, acknowledged or not: each has its entry in the log (R15).
    var effects = 0
    var used: Set<UInt64> = []
    var nextCounter: UInt64 = 0
    var result = KillResult()

    /// The operation under way at the kill is done, or it is not.
    mutating func settle(_ found: [String: String], counter: UInt64) {
      var expected = [items]
      if let pending, pending[0] != "code" {
        var done = items
        done[pending[1]] = pending[0] == "delete" ? nil : pending[2...].joined(separator: " ")
        expected.append(done)
      }
      if !expected.contains(found) { fault("items are \(found), expected one of \(expected)") }
      let mayBeSkipped = pending?.first == "code" || pending?.first == "any"
      let steps = counter < nextCounter ? -1 : Int(counter - nextCounter)
      if steps < 0 || steps > (mayBeSkipped ? 1 : 0) { fault("counter \(counter), expected \(nextCounter)") }
      result.skipped += max(0, steps)
      if pending != nil, steps > 0 || found != items { effects += 1 }
      if pending != nil { result.cutShort += 1 }
      items = found
      nextCounter = counter
      pending = nil
    }

    mutating func acknowledge(_ line: String) {
      let words = line.split(separator: " ").map(String.init)
      if words.count == 4, words[1] == "code", let counter = UInt64(words[2]) {
        note(counter: counter, code: words[3])
      } else if let done = pending {
        items[done[1]] = done[0] == "delete" ? nil : done[2...].joined(separator: " ")
      }
      pending = nil
      result.operations += 1
      effects += 1
    }

    mutating func note(counter: UInt64, code: String) {
      if !used.insert(counter).inserted { fault("counter \(counter) twice") }
      if (try? Expected.code(counter)) != code { fault("\(code) is not the code of counter \(counter)") }
      if counter != nextCounter { fault("a code of counter \(counter), expected \(nextCounter)") }
      nextCounter = counter + 1
      result.codes += 1
    }

    /// The log has one entry for each operation; the one that is not settled yet may have one or not.
    mutating func checkLog(_ report: VerifyReport, from start: UInt64) {
      if !report.problems.isEmpty { fault("verify: \(report.problems)") }
      let entries = Int(report.auditEntries)
      let may = [effects, effects + (pending == nil ? 0 : 1)].map { Self.kept(of: Int(start) + $0) }
      if !may.contains(entries) {
        fault("\(entries) entries in the log after \(effects) operations, not \(may)")
      }
    }

    /// How many entries a log has after so many were made: those of its last 64 segments of 4,096.
    private static func kept(of entries: Int) -> Int {
      entries - max(0, (entries + 4_095) / 4_096 - 64) * 4_096
    }

    mutating func fault(_ text: String) { if result.faults.count < 10 { result.faults.append(text) } }
  }

  /// One vault, and one process after another that works on it until it is killed.
  final class Life {
    private let vault: TemporaryVault
    private let random: SeededRandom
    private let commands: KilledCommands
    private var model = Model()
    private let entries: UInt64

    init(seed: UInt64) throws {
      random = SeededRandom(seed: seed)
      vault = try Self.vault()
      entries = try vault.openCore().verify().auditEntries
      commands = try KilledCommands("vault-torture", random: random)
      let other = try Self.vault()
      try commands.learn("operations", ["operations", other.folder, "1"], upTo: 50)
    }

    private static func vault() throws -> TemporaryVault {
      let vault = TemporaryVault(in: Place.fast)
      try vault.makeCore().addTestHOTP("counter")
      return vault
    }

    func run(kills: Int, _ moment: KillMoment) throws -> KillResult {
      for number in 1...kills where model.result.faults.isEmpty {
        let words = ["operations", vault.folder, "\(random.next() >> 2)"]
        switch moment {
        case .systemCall: try end(commands.start("operations", words), isChosen: true)
        case .random: try end(Running(Built.path("vault-torture"), words), isChosen: false)
        }
        model.result.kills += 1
        if number % 100 == 0 || number == kills {
          model.checkLog(try vault.openCore().verify(), from: entries)
        }
      }
      return model.result
    }

    /// - Parameter isChosen: Whether it is killed at a system call, which may be one before it is ready.
    private func end(_ process: Running, isChosen: Bool) throws {
      let isReady = readState(process)
      if !isReady, !isChosen { model.fault("the vault does not open") }
      if !isChosen {
        passRandomMoment(microseconds: random.below(12_000))
        process.kill()
      }
      let lines = process.lines()
      if isReady { for line in lines { note(line) } }
      let status = process.wait()
      if status != -SIGKILL { model.fault("ended with \(status): \(lines.suffix(2))") }
    }

    /// What the next process finds is what the last one left.
    ///
    /// - Returns: Whether it could look at all of that.
    private func readState(_ process: Running) -> Bool {
      var found: [String: String] = [:]
      var counter: UInt64 = 0
      while let line = process.line() {
        let words = line.split(separator: " ").map(String.init)
        if line == "ready" {
          model.settle(found, counter: counter)
          return true
        }
        if words[0] != "=" {
          model.fault("said: \(line)")
          return false
        }
        if words[1] == "counter" {
          counter = UInt64(words[2])!
        } else {
          found[words[1]] = words[2...].joined(separator: " ")
        }
      }
      return false
    }

    private func note(_ line: String) {
      if line.hasPrefix("> ") {
        model.pending = line.dropFirst(2).split(separator: " ").map(String.init)
      } else if line.hasPrefix("<") {
        model.acknowledge(line)
      } else {
        model.fault("said: \(line)")
      }
    }
  }

  /// The same with `vaultctl-testing`, one command a process, killed at a system call; or with an agent that runs the commands, of
  /// which the commands are killed or the agent.
  final class CommandLife {
    private let vault = TemporaryVault(in: Place.fast)
    private let random: SeededRandom
    private let commands: KilledCommands
    private let agent: TorturedAgent?
    private let target: TorturedAgent.Target
    private var model = Model()
    private let entries: UInt64

    /// - Parameter target: What is killed where an agent runs the commands; nil for no agent.
    init(seed: UInt64, killing target: TorturedAgent.Target? = nil) throws {
      let random = SeededRandom(seed: seed)
      self.random = random
      let core = try vault.makeCore()
      try core.addTestHOTP("counter")
      entries = try core.verify().auditEntries
      let environment = try Tool(vault).environment
      let agent = try target.map { _ in try TorturedAgent(environment, random: random) }
      self.agent = agent
      self.target = target ?? .command
      commands = try KilledCommands(environment: agent?.environment ?? environment, random: random)
      for intent in [["put", "n0", "x"], ["put", "n0", "y"], ["delete", "n0"], ["code"]] {
        try take(intent, .learned)
      }
    }

    func run(kills: Int) throws -> KillResult {
      var number = 0
      while model.result.kills < kills, model.result.faults.isEmpty {
        number += 1
        let name = "n\(random.below(4))"
        let value = String(random.next() >> 1, radix: 36)
        let isThere = model.items[name] != nil
        let choice = random.below(5)
        let intent =
          choice < 2 ? ["code"] : isThere && choice == 2 ? ["delete", name] : ["put", name, value]
        // Every second one is killed, so that there is something that was acknowledged.
        try take(intent, number % 2 == 0 ? .killed : .whole)
      }
      model.checkLog(try vault.openCore().verify(), from: entries)
      return model.result
    }

    private func take(_ intent: [String], _ end: TorturedAgent.End) throws {
      let verb =
        switch intent[0] {
        case "code": "code"
        case "delete": "rm"
        default: model.items[intent[1]] == nil ? "add" : "edit"
        }
      let words =
        verb == "code"
        ? ["code", "counter", "--json"] : [verb, intent[1]] + (verb == "edit" ? ["--password"] : [])
      let input = intent.count > 2 ? intent[2] : ""
      let (status, lines) = try served(verb, end) { end in
        switch end {
        case .learned: (0, try commands.learn(verb, words, input: input))
        case .whole: try commands.complete(words, input: input)
        case .killed: try commands.run(verb, words, input: input)
        }
      }
      model.result.kills = commands.hits + (agent?.hits ?? 0)
      model.pending = intent
      // 13: the agent has ended.
      if ![0, -SIGKILL].contains(status), !(status == 13 && target == .agent) {
        model.fault("\(words) ended with \(status): \(lines)")
      }
      if intent[0] == "code", let line = lines.first {
        let words = try Reading.counterAndCode(line).split(separator: " ")
        model.acknowledge("< code \(words[0]) \(words[1])")
      } else if status == 0 {
        model.acknowledge("<")
      }
      try settle()
    }

    /// Runs a command, which or whose agent is killed if its end is that.
    private func served(
      _ verb: String, _ end: TorturedAgent.End,
      _ body: (TorturedAgent.End) throws -> (Int32, [String])
    ) throws -> (Int32, [String]) {
      guard let agent else { return try body(end) }
      switch target {
      case .command: return try agent.serving(verb, .whole) { try body(end) }
      case .agent: return try agent.serving(verb, end) { try body(.whole) }
      }
    }

    private func settle() throws {
      let core = try vault.openCore()
      var found: [String: String] = [:]
      for item in try core.items(matching: Query(.genericPassword)) {
        found[item.name!] = String(decoding: try core.secret(of: item.id).bytesForTesting, as: UTF8.self)
      }
      model.settle(found, counter: try core.describeOTP(named: "counter").state.counter)
    }
  }
}
