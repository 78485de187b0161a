import AuthenticatorKit
import Foundation
import Glibc
import TestSupport
import Testing
import VaultKit
import VaultTestKit

extension Torture {
  /// Verified to fail when the counter of an online code is written back unchanged once in seven.
  @Suite("Killed synchronizations and online codes", .requirement("A9", "A20", "A21"), .serialized)
  struct SynchronizationKills {
    @Test("the server gets no counter twice, the state is one of the table's, and the vault opens")
    func killed() throws {
      let seed = Scale.seed
      let life = try SynchronizedLife(seed: seed)
      try life.run(kills: Scale.pick(25, long: 500))
      expect(life.faults, equals: [])
      report("A9, A20, A21: \(life.summary), seed \(seed)")
      // A kill that never hits anything proves nothing.
      #expect(life.cutShort > life.kills / 20)
    }
  }

  /// A credential whose server blocks and unblocks it, and gets its codes, by commands that are killed at random moments.
  final class SynchronizedLife {
    private let home: ScenarioHome
    private let random: SeededRandom
    private let longest: Int
    private(set) var faults: [String] = []
    private(set) var kills = 0
    private(set) var cutShort = 0

    private static let options = ["--transport", "@/in/server", "--pin-file", "@/in/pin"]
    private static let synchronization = ["otp", "sync", "bank"] + options
    private static let code = ["otp", "code", "bank", "--online", "--json"] + options

    init(seed: UInt64) throws {
      random = SeededRandom(seed: seed)
      home = try ScenarioHome(.plain, hasNamedKey: false)
      try home.activateGuarded()
      try home.write("in/requests", "")
      try home.write("in/state", "active\n")
      let start = ContinuousClock.now
      try home.run(Self.code)
      longest = max(40_000, Int((ContinuousClock.now - start) / .microseconds(1)) * 3 / 2)
    }

    var summary: String {
      "\(kills) kills, \(cutShort) cut short, \((try? counters().count) ?? 0) codes at the server"
    }

    func run(kills count: Int) throws {
      while kills < count, faults.isEmpty {
        let before = try state()
        let answer: CredentialState = random.below(3) == 0 ? .blocked : .active
        try home.write("in/state", answer == .active ? "active\n" : "blocked\n")
        let synchronizes = before == .blocked || random.below(2) == 0
        let status = try kill(synchronizes ? Self.synchronization : Self.code)
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

    private func kill(_ words: [String]) throws -> Int32 {
      let process = try Running(
        Built.path("vaultctl-testing"), home.words(words), environment: ["HOME": home.folder], errors: false)
      usleep(UInt32(random.below(longest)))
      process.kill()
      _ = process.lines()
      let status = process.wait()
      kills += 1
      if status == -SIGKILL { cutShort += 1 }
      return status
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
