import AuthenticatorKit
import Foundation
import Glibc
import TestSupport
import Testing
import VaultKit
import VaultTestKit

extension Torture {
  /// Verified to fail when the counter of an online code is written back unchanged once in seven.
  @Suite("Killed synchronizations and online codes", .bounded, .requirement("A9", "A20", "A21"), .serialized)
  struct SynchronizationKills {
    @Test("the server gets no counter twice, the state is one of the table's, and the vault opens")
    func killed() throws {
      let seed = Scale.seed
      let life = try SynchronizedLife(seed: seed)
      try life.run(kills: Scale.pick(25, long: 500))
      expect(life.faults, equals: [])
      report("A9, A20, A21: \(life.summary), seed \(seed)")
    }
  }

  /// A credential whose server blocks and unblocks it, and gets its codes, by commands that are killed at a system call.
  final class SynchronizedLife {
    private let home: ScenarioHome
    private let random: SeededRandom
    private let commands: KilledCommands
    private(set) var faults: [String] = []

    private static let options = ["--transport", "@/in/server", "--pin-file", "@/in/pin"]
    private static let synchronization = ["otp", "sync", "bank"] + options
    private static let code = ["code", "bank", "--online", "--json"] + options

    init(seed: UInt64) throws {
      random = SeededRandom(seed: seed)
      home = try ScenarioHome(.plain, hasNamedKey: false)
      try home.activateGuarded()
      try home.write("in/requests", "")
      try home.write("in/state", "active\n")
      commands = try KilledCommands(environment: home.environment, random: random)
      try commands.learn("code", home.words(Self.code))
      try commands.learn("sync", home.words(Self.synchronization))
    }

    var summary: String {
      "\(commands.summary), \((try? counters().count) ?? 0) codes at the server"
    }

    func run(kills count: Int) throws {
      var number = 0
      while commands.hits < count, faults.isEmpty {
        number += 1
        let before = try state()
        let answer: CredentialState = random.below(3) == 0 ? .blocked : .active
        try home.write("in/state", answer == .active ? "active\n" : "blocked\n")
        let synchronizes = before == .blocked || random.below(2) == 0
        let (name, words) = synchronizes ? ("sync", Self.synchronization) : ("code", Self.code)
        // Every second one is killed: the others show what that left.
        let run =
          try number % 2 == 0 ? commands.run(name, home.words(words)) : commands.complete(home.words(words))
        let status = run.status
        let after = try state()
        if !(synchronizes ? [before, answer] : [before]).contains(after) {
          faults.append("from \(before) to \(after), and the server says \(answer)")
        }
        let done: Int32 = synchronizes && answer == .blocked ? 4 : 0
        if ![done, -SIGKILL].contains(status) { faults.append("ended with \(status)") }
        if status == done, synchronizes, after != answer {
          faults.append("was done, and the state is \(after)")
        }
        let counters = try counters()
        if Set(counters).count != counters.count { faults.append("a counter twice: \(counters.suffix(5))") }
      }
    }

    /// The counters of the codes that the server got.
    private func counters() throws -> [UInt64] {
      try String(contentsOfFile: home.folder + "/in/requests", encoding: .utf8).split(separator: "\n")
        .compactMap {
          guard let object = try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any],
            object["code"] != nil, let counter = object["counter"] as? UInt64
          else { return nil }
          // A synchronization names the counter after that of its code.
          return object["operation"] as? String == "synchronize" ? counter - 1 : counter
        }
    }

    /// The state as it is stored. Attempts that were killed are forgotten: they would block the PIN.
    private func state() throws -> CredentialState {
      let core = try home.open()
      faults += try core.verify().problems.map { "\($0)" }
      let (bank, pin) = (try core.item(named: "bank").id, try core.item(named: "pin").id)
      try core.write { transaction in
        try transaction.changeState(of: pin) {
          ($0.failures, $0.attemptsUnderWay, $0.isBlocked) = (0, 0, false)
        }
      }
      return try core.state(of: bank).credentialState()
    }
  }
}
