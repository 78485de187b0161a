import AuthenticatorKit
import Foundation
import Glibc
import TestSupport
import Testing
import VaultKit
import VaultTestKit

extension Torture {
  /// Verified to fail when the start of an activation makes an active credential.
  @Suite("Killed activations and unlocks", .bounded, .requirement("A1", "A8"), .serialized)
  struct ActivationKills {
    @Test(
      "the state is one of the table's, nothing is active without its second step, no counter comes twice")
    func killed() throws {
      let seed = Scale.seed
      let life = try ActivationLife(seed: seed)
      try life.run(kills: Scale.pick(60, long: 2_000))
      expect(life.faults, equals: [])
      report("A1, A8: \(life.summary), seed \(seed)")
    }
  }

  /// A credential on its way through all states, by commands that are killed at a system call.
  final class ActivationLife {
    private let home: ScenarioHome
    private let random: SeededRandom
    private let commands: KilledCommands
    private(set) var faults: [String] = []
    private var counts: [String: Int] = [:]
    /// The counters that were shown since the activation.
    private var shown: Set<UInt64> = []

    private static let server = ["--transport", "@/in/server", "--code-file", "@/in/code"]
    private static let pin = ["--pin-file", "@/in/pin"]
    private static let calls: [String: [String]] = [
      "start": ["otp", "activate", "start", "bank"] + server,
      "finish": ["otp", "activate", "finish", "bank", "--pin-mode", "checked"] + server + pin,
      "code": ["code", "bank", "--json"] + pin,
      "unlockStart": ["pin", "unlock", "--credential", "bank", "--start", "--transport", "@/in/server"],
      "unlock": ["pin", "unlock", "--credential", "bank"] + server + pin,
    ]
    /// What a command may lead to, from each state; `none` is also no credential.
    private static let next: [String: Set<CredentialState>] = [
      "start": [.started], "finish": [.active], "code": [.active], "unlockStart": [.unlockStarted],
      // With the current PIN, a kill after the code leaves the attempt under way: it may be the last one.
      "unlock": [.active, .unlockStarted, .blocked],
    ]

    init(seed: UInt64) throws {
      random = SeededRandom(seed: seed)
      home = try ScenarioHome(.plain, hasNamedKey: false)
      try home.write("in/pin", "830617")
      try home.addServer(mode: 1)
      commands = try KilledCommands(environment: home.environment, random: random)
      for name in ["start", "finish", "code", "block", "unlockStart", "unlock"] {
        if name == "block" { try block() } else { try commands.learn(name, home.words(Self.calls[name]!)) }
      }
      try remove()
    }

    var summary: String {
      "\(commands.summary), "
        + counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }

    func run(kills count: Int) throws {
      while commands.hits < count, faults.isEmpty {
        let state = try state()
        let choice = command(in: state)
        try take(choice, from: state)
      }
    }

    private func command(in state: CredentialState) -> String {
      switch state {
      case .none: "start"
      case .started: random.below(5) == 0 ? "start" : "finish"
      case .blocked: "unlockStart"
      case .unlockStarted: random.below(3) == 0 ? "unlockStart" : "unlock"
      default: "code"
      }
    }

    private func take(_ name: String, from state: CredentialState) throws {
      let (status, lines) = try commands.run(name, home.words(Self.calls[name]!))
      counts[name, default: 0] += 1
      // A PIN whose killed attempts were its last ones is blocked, and five killed codes refuse an unlock.
      let mayBeBlocked = ["code", "finish", "unlock"].contains(name)
      if ![0, -SIGKILL].contains(status), !(mayBeBlocked && status == 4) {
        faults.append("\(name) ended with \(status)")
      }
      if name == "code", let line = lines.first { note(line) }
      let found = try self.state()
      let allowed = Self.next[name]!.union([state])
      if !allowed.contains(found), found != .blocked || name == "start" {
        faults.append("\(name) led from \(state) to \(found)")
      }
      if status == 0, !Self.next[name]!.contains(found), found != .blocked {
        faults.append("\(name) was done, and the state is \(found)")
      }
      if found == .active { try step() }
    }

    private func note(_ line: String) {
      guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
        let counter = object["counter"] as? UInt64
      else { return faults.append("no code: \(line)") }
      if !shown.insert(counter).inserted { faults.append("counter \(counter) twice") }
    }

    /// Goes on to another state, by commands that are not killed.
    private func step() throws {
      switch random.below(4) {
      case 0: try remove()
      case 1: try block()
      default:
        let (status, lines) = try commands.complete(home.words(Self.calls["code"]!))
        if let line = lines.first { note(line) }
        // The killed attempts may have been the last ones.
        if ![0, 4].contains(status) { faults.append("a code ended with \(status)") }
      }
    }

    private func remove() throws {
      try home.run(["otp", "rm", "--now", "bank"])
      try home.run(["rm", "pin"])
      shown = []
    }

    private func block() throws {
      let core = try home.open()
      let id = try core.item(named: "bank").id
      try core.write { try $0.changeState(of: id) { $0.set(CredentialState.blocked) } }
    }

    /// The state as it is stored, and with the PIN. A PIN item of an activation that was killed is taken away.
    private func state() throws -> CredentialState {
      let core = try home.open()
      faults += try core.verify().problems.map { "\($0)" }
      let names = try core.items(matching: Query()).compactMap(\.name)
      if names.contains("pin"), try core.pinStatuses().first?.credentials.isEmpty == true {
        try core.delete(Query(id: core.item(named: "pin").id))
      }
      guard names.contains("bank") else { return .none }
      return try core.credentialStatus(named: "bank").state
    }
  }
}
