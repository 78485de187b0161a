import Foundation
import TestSupport
import Testing

/// A terminal session as a page shows it: `$ command` lines, each followed by what it prints.
///
/// `> ` continues a command. In the output `…` stands for any text within a line; ids, times and process
/// numbers, which differ from run to run, match any other of their shape.
struct Session {
  struct Step {
    var command: String
    var output: [String]
  }

  let steps: [Step]

  /// - Parameter remarks: What a line begins with that is for the reader alone; empty lines are then too.
  init(_ text: String, remarks: String? = nil) {
    var steps: [Step] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
      if let remarks, line.isEmpty || line.hasPrefix(remarks) { continue }
      if line.hasPrefix("$ ") {
        steps.append(Step(command: String(line.dropFirst(2)), output: []))
      } else if line.hasPrefix("> "), let last = steps.indices.last, steps[last].output.isEmpty {
        steps[last].command += "\n" + line.dropFirst(2)
      } else if let last = steps.indices.last {
        steps[last].output.append(String(line))
      }
    }
    self.steps = steps
  }

  /// Runs all commands in one shell in a new home and returns what each printed, both streams together.
  ///
  /// - Parameters:
  ///   - files: What the home has, by name; else it is empty.
  ///   - canHaveAgent: Whether there is a place for the socket of an agent, in the home.
  func replay(
    with tools: URL, files: [String: String] = [:], canHaveAgent: Bool = false
  ) throws -> [Step] {
    let home = FileManager.default.temporaryDirectory.appendingPathComponent("session \(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: home, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: home) }
    for (name, text) in files { try Data(text.utf8).write(to: home.appendingPathComponent(name)) }

    let runtime = canHaveAgent ? try Self.runtime(in: home) : nil

    let mark = "-- end of \(UUID().uuidString) --"
    let script = steps.map { "\($0.command)\nprintf '%s\\n' '\(mark)'\n" }.joined()
    let printed = try shell(script, home: home, tools: tools, runtime: runtime).components(
      separatedBy: mark + "\n")
    return zip(steps, printed).map { step, text in
      Step(command: step.command, output: text.split(separator: "\n").map(String.init))
    }
  }

  /// What `$XDG_RUNTIME_DIR` names.
  private static func runtime(in home: URL) throws -> String {
    let folder = home.appendingPathComponent("run")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    return folder.path
  }

  private func shell(_ script: String, home: URL, tools: URL, runtime: String?) throws -> String {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    var variables = ["HOME": home.path, "PATH": "\(tools.path):\(path)", "LC_ALL": "C.UTF-8"]
    variables["XDG_RUNTIME_DIR"] = runtime
    let words = ["--noprofile", "--norc", "-c", script]
    return try Program("/bin/bash", words, environment: variables, in: home).run().text
  }

  /// Expects of each command that it printed what is shown.
  func compare(with replayed: [Step], _ page: String) throws {
    expect(replayed.count, equals: steps.count)
    for (step, run) in zip(steps, replayed) {
      let same =
        step.output.count == run.output.count
        && zip(run.output, step.output).allSatisfy { Self.line($0, matches: $1) }
      #expect(
        same,
        """
        $ \(step.command)
        \(page): \(step.output.joined(separator: "\n        "))
        now:    \(run.output.joined(separator: "\n        "))
        """)
    }
  }

  /// Without what a prompt says of the program that asks, and the rows in which that goes on: docs/guides/agent.md, *What is different*.
  static func withoutProgram(_ lines: [String]) -> [String] {
    let fact = /^ {2}(asked by|through|started by|in the unit|says: process \d+ is|says: it is)\s/
    var isOfProgram = false
    return lines.filter { line in
      isOfProgram = line.contains(fact) || isOfProgram && line.hasPrefix("  + ")
      return !isOfProgram
    }
  }

  /// Whether `line` is what the page says, up to what differs from run to run.
  static func line(_ line: String, matches shown: String) -> Bool {
    pattern(of: line) == pattern(of: shown) || elided(shown, matches: line)
  }

  /// `line` with each random part replaced by its kind.
  private static func pattern(of line: String) -> String {
    line
      .replacing(/\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})/, with: "<time>")
      .replacing(/\b[0-9a-f]{32}\b/, with: "<id>")
      .replacing(/\bpid \d+/, with: "pid <number>")
      .replacing(/\s+/, with: " ")
  }

  /// Whether `line` is `shown` with some text in place of each `…`.
  private static func elided(_ shown: String, matches line: String) -> Bool {
    let parts = pattern(of: shown).components(separatedBy: "…")
    guard parts.count > 1, let first = parts.first, let last = parts.last else { return false }
    var rest = Substring(pattern(of: line))
    guard rest.hasPrefix(first) else { return false }
    rest = rest.dropFirst(first.count)
    for part in parts.dropFirst().dropLast() where !part.isEmpty {
      guard let range = rest.range(of: part) else { return false }
      rest = rest[range.upperBound...]
    }
    return rest.hasSuffix(last)
  }
}
