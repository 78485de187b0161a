import Foundation
import Glibc
import TestSupport
import Testing
import VaultTestKit

extension Torture {
  /// When the processes of a test are killed.
  enum KillMoment: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case systemCall = "at a system call"
    /// Such a kill need not hit anything.
    case random = "at a random moment"
    var testDescription: String { rawValue }
  }

  /// Programs that are killed at one of their own system calls, which is drawn from those that a run makes that is not killed. So
  /// each kill hits, on a fast machine and on a busy one.
  final class KilledCommands {
    private let program: String
    private let environment: [String: String]
    private let random: SeededRandom
    private var calls: [String: [SystemCall]] = [:]
    /// Those of ``calls`` at which nothing was killed yet.
    private var left: [String: [SystemCall]] = [:]
    private var count = 0
    /// How many runs were killed.
    private(set) var hits = 0

    init(
      _ program: String = "vaultctl-testing", environment: [String: String] = [:], random: SeededRandom
    ) throws {
      try Shell.need("strace")
      (self.program, self.environment, self.random) = (Built.path(program), environment, random)
    }

    var summary: String { "\(hits) kills in \(count) runs" }

    // MARK: Runs that are not killed

    /// Runs a command to its end, and notes its calls for ``run(_:_:input:)``.
    ///
    /// - Parameter name: Of all commands that make about the same calls.
    /// - Returns: What it printed.
    @discardableResult
    func learn(_ name: String, _ words: [String], input: String = "") throws -> [String] {
      let log = CallLog()
      let run = try finish(start(log.writing + [program] + words, Self.gate(input)))
      guard run.status == 0 else { throw ScenarioHome.Failed(text: "\(words): \(run)") }
      calls[name] = try log.calls.filter(\.isNoticed)
      return run.lines
    }

    /// The same for a program without an end, which is killed at one of its outputs. Only calls that it makes again and again are
    /// noted: it comes to each of them.
    @discardableResult
    func learn(_ name: String, _ words: [String], upTo output: Int) throws -> [String] {
      let log = CallLog()
      let end = ["-e", "inject=write:signal=SIGKILL:when=\(output)"]
      let run = try finish(start(log.writing + end + [program] + words, nil))
      guard run.status == -SIGKILL else { throw ScenarioHome.Failed(text: "\(words): \(run)") }
      let all = try log.calls
      let again = Set(all.suffix(all.count / 2).map(\.name))
      calls[name] = all.filter { $0.isNoticed && again.contains($0.name) }
      return run.lines
    }

    // MARK: Runs that are killed

    /// Starts a program that is killed at one of the calls of its name.
    func start(_ name: String, _ words: [String], gate: Gate? = nil) throws -> Running {
      try start(next(name).killing + [program] + words, gate)
    }

    /// Runs a command that is killed at one of the calls of its name. In the rare case that it makes fewer calls now, it comes to
    /// its end.
    ///
    /// - Returns: The exit code, or minus the signal that ended it, and the whole lines that it printed.
    func run(_ name: String, _ words: [String], input: String = "") throws -> (status: Int32, lines: [String])
    {
      let run = try finish(start(name, words, gate: Self.gate(input)))
      count += 1
      if run.status == -SIGKILL { hits += 1 }
      return run
    }

    /// Runs a command to its end.
    func complete(_ words: [String], input: String = "") throws -> (status: Int32, lines: [String]) {
      try finish(start([program] + words, Self.gate(input)))
    }

    /// All calls of a name are taken before one is taken again.
    private func next(_ name: String) -> SystemCall {
      if left[name, default: []].isEmpty { left[name] = random.mixed(calls[name]!, by: \.name).reversed() }
      return left[name]!.removeLast()
    }

    private func start(_ words: [String], _ gate: Gate?) throws -> Running {
      try Running(words[0], Array(words.dropFirst()), environment: environment, gate: gate, errors: false)
    }

    private func finish(_ process: Running) -> (status: Int32, lines: [String]) {
      let lines = process.lines()
      return (process.wait(), lines)
    }

    private static func gate(_ input: String) throws -> Gate {
      let gate = try Gate()
      gate.write(input)
      gate.open()
      return gate
    }
  }

  /// A file in which strace notes the calls of a program.
  private final class CallLog {
    private let path = (Place.fast ?? NSTemporaryDirectory()) + "/vault-calls-\(UUID().uuidString)"

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// What starts a program that it is about.
    var writing: [String] { ["strace", "-qq", "-s", "0", "-o", path] }

    var calls: [SystemCall] {
      get throws { try SystemCall.inMain(String(contentsOfFile: path, encoding: .utf8)) }
    }
  }
}
