import Foundation
import Glibc
import TestSupport
import Testing
import VaultKit
import VaultTestKit

extension Torture {
  /// The agent of one test, which can be killed at a system call of a request. It ends with this value.
  ///
  /// As of ``KilledCommands``, the call is drawn from those that a run makes that is not killed, so each kill hits. Only calls count
  /// to which no other thread of the agent comes first: strace counts the calls of each thread.
  final class TorturedAgent {
    /// Which process of the two is killed.
    enum Target: String, CaseIterable, Sendable, CustomTestStringConvertible {
      case command = "commands of an agent"
      case agent = "the agent"
      var testDescription: String { rawValue }
    }

    enum End { case whole, learned, killed }

    /// Of the agent and of its commands.
    let environment: [String: String]
    private let runtime = "/tmp/agent-" + UUID().uuidString.prefix(13)
    private let random: SeededRandom
    private var calls: [String: [SystemCall]] = [:]
    private var left: [String: [SystemCall]] = [:]
    private var running: Running?
    /// How often it was killed.
    private(set) var hits = 0
    /// What it wrote itself, not to a command's descriptors.
    private(set) var said: [String] = []
    /// The process that runs now, without an end.
    var process: pid_t? { running?.pid }

    /// - Parameter environment: Of the commands, without an agent.
    init(_ environment: [String: String], random: SeededRandom) throws {
      try Shell.need("strace")
      self.random = random
      let place = ["XDG_RUNTIME_DIR": runtime, "VAULTCTL_AGENT": "required"]
      self.environment = environment.merging(place) { $1 }
      try FileManager.default.createDirectory(
        atPath: runtime, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    deinit {
      try? stop()
      try? FileManager.default.removeItem(atPath: runtime)
    }

    /// Runs a command of this name while the agent runs.
    ///
    /// - Parameter end: Whether the agent is killed in it, or its calls are noted for that. ``End/whole`` leaves the agent running.
    func serving<R>(_ name: String, _ end: End, _ body: () throws -> R) throws -> R {
      let log = runtime + "/calls"
      switch end {
      case .whole: if running?.isRunning != true { try start([]) }
      case .learned: try start(["strace", "-f", "-qq", "-s", "0", "-e", "signal=none", "-o", log])
      case .killed: try start(next(name).killingThreads)
      }
      let result = try body()
      if end != .whole { try stop() }
      if end == .learned { calls[name] = try Self.calls(in: String(contentsOfFile: log, encoding: .utf8)) }
      return result
    }

    private func start(_ before: [String]) throws {
      try stop()
      let words = before + [Built.path("vaultd-testing")]
      let process = try Running(words[0], Array(words.dropFirst()), environment: environment)
      running = process
      try waitUntil("the agent") { try !process.isRunning || status() == 0 }
    }

    private func status() throws -> Int32 { try command("status").wait() }

    /// A command that can speak to an agent of any state.
    private func command(_ word: String) throws -> Running {
      let process = try Running(
        Built.path("vaultctl-testing"), ["agent", word], environment: environment, errors: false)
      _ = process.lines()
      return process
    }

    /// Ends it in order.
    func stop() throws {
      guard let running else { return }
      self.running = nil
      if running.isRunning { try command("stop").wait() }
      said += running.lines()
      if running.wait() == -SIGKILL { hits += 1 }
    }

    private func next(_ name: String) throws -> SystemCall {
      if left[name, default: []].isEmpty {
        left[name] = random.mixed(try #require(calls[name]), by: \.name).reversed()
      }
      return left[name]!.removeLast()
    }

    /// The calls of the thread that worked with the vault, as far as no other thread makes as many of that name.
    private static func calls(in log: String) throws -> [SystemCall] {
      var counts: [Substring: [String: Int]] = [:]
      for line in log.split(separator: "\n") {
        let thread = line.prefix(while: \.isNumber)
        let text = line.dropFirst(thread.count).drop { $0 == " " }
        guard let end = text.firstIndex(of: "("), !text.hasPrefix("<"), !text.hasPrefix("+") else { continue }
        counts[thread, default: [:]][String(text[..<end]), default: 0] += 1
      }
      // SQLite's locks.
      let worker = try #require(counts.max { $0.value["fcntl", default: 0] < $1.value["fcntl", default: 0] })
      let found = worker.value.flatMap { name, count -> [SystemCall] in
        let others = counts.filter { $0.key != worker.key }.map { $0.value[name, default: 0] }.max() ?? 0
        guard others < count else { return [] }
        return (others + 1...count).map { SystemCall(name: name, number: $0) }.filter(\.isNoticed)
      }
      try #require(found.count > 20)
      return found.sorted { ($0.name, $0.number) < ($1.name, $1.number) }
    }
  }

  /// A vault with an agent.
  struct AgentHome {
    let vault = TemporaryVault(in: Place.fast)
    let agent: TorturedAgent

    /// - Parameter isServing: Whether the agent runs, without an end.
    init(passcode: String? = nil, isServing: Bool = true) throws {
      let core = try vault.makeCore(passcode: passcode)
      if passcode != nil { _ = try core.add(NewItem(.genericPassword, name: "mail")) }
      var environment = try Tool(vault).environment
      environment["VAULTCTL_TESTING_DERIVATIONS"] = vault.folder + "/derivations"
      agent = try TorturedAgent(environment, random: SeededRandom(seed: Scale.seed))
      if isServing { try agent.serving("", .whole) {} }
    }

    var environment: [String: String] { agent.environment }

    func start(_ words: [String], gate: Gate? = nil) throws -> Running {
      try Running(
        Built.path("vaultctl-testing"), words, environment: environment, gate: gate, errors: false)
    }

    /// Runs a command to its end.
    @discardableResult
    func run(_ words: [String], input: String = "") throws -> (status: Int32, lines: [String]) {
      let gate = try Gate()
      gate.write(input)
      gate.open()
      let process = try start(words, gate: gate)
      let lines = process.lines()
      return (process.wait(), lines)
    }

    /// - Returns: The path of a file that only this user can read.
    func file(_ name: String, _ text: String) throws -> String {
      let path = vault.folder + "/" + name
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
      return path
    }

    /// How often a key was derived from a passcode.
    func derivations() throws -> Int {
      try Data(contentsOf: URL(fileURLWithPath: vault.folder + "/derivations")).count
    }
  }
}

extension Torture.SystemCall {
  /// The same with a program whose threads are killed.
  fileprivate var killingThreads: [String] { [killing[0], "-f"] + killing.dropFirst() }
}
