import Foundation
import TestSupport
import Testing

/// Each page and each transcript once more, with an agent that runs each command (`--agent required`). After each command the vault
/// is locked, so that a passcode is needed where the page says so.
@Suite("The pages with an agent", .bounded, .requirement("G1"))
struct AgentReplayTests {
  /// A command whose output differs by intention. Its exit code is the same.
  struct Difference {
    let page: String
    let command: String
    let reason: String

    /// The log of a vault has an entry for each lock.
    static let entries = "the log has more entries: one for each lock"
    /// docs/guides/agent.md, *What is different*.
    static let program = "the log names the program that writes it"
  }

  static let differences = [
    Difference(page: "logging.md", command: "printf secret | vaultctl", reason: Difference.program),
    Difference(
      page: "logging.md", command: "vaultctl get nothing --log VAULT --log-unmasked",
      reason: Difference.program),
    Difference(page: "prompts.md", command: "vaultctl audit --item bank", reason: Difference.entries),
    Difference(
      page: "rotation-after-a-compromise.md", command: "vaultctl audit", reason: Difference.entries),
    Difference(
      page: "rotation-after-a-compromise.md", command: "vaultctl vault check --passcode-file ~/new",
      reason: Difference.entries),
    Difference(
      page: "scripts-and-services.md", command: "vaultctl audit --item", reason: Difference.entries),
    Difference(page: "week.transcript", command: "vaultctl audit", reason: Difference.entries),
  ]

  /// Those with commands. The page of the agent, and one that a person types, have their own.
  static let pages = GuideTests.guides.filter { page in
    page != "agent.md" && !GuideTests.typed.contains(page) && (try? shown(on: page))?.steps.isEmpty == false
  }

  private static func shown(on page: String) throws -> Session {
    try Session(Readme.blocks("console", of: "docs/guides/\(page)").joined())
  }

  @Test(
    "a page shows what an agent's commands print, with the exit codes of commands without one",
    arguments: pages)
  func replay(page: String) throws {
    let (place, shown) = ("docs/guides/\(page)", try Self.shown(on: page))
    let files = Dictionary(
      uniqueKeysWithValues: try Readme.blocks("python", of: place).map { ("transport.py", $0) })
    let isShipped = page == "logging.md"
    let tools = try isShipped ? Built.directory : GuideTests.tools()
    defer { if !isShipped { try? FileManager.default.removeItem(at: tools) } }
    let alone = try AgentSession(shown, hasAgent: false).replay(with: tools, files: files)
    let served = try AgentSession(shown, hasAgent: true).replay(with: tools, files: files)
    expect(served.map(\.exit), equals: alone.map(\.exit), "\(place)")
    try Self.compare(shown, with: served.map(\.step), page)
  }

  @Test("a transcript comes out again with an agent", arguments: GuideTests.transcripts)
  func transcript(name: String) throws {
    let python = try Shell.need("python3")
    let folder = Readme.root.path + "/Tests/Transcripts"
    let words = ["\(folder)/replay.py", "--agent", "\(folder)/\(name)", Built.directory.path]
    let result = try Program(python, words).run()
    expect(result.status, equals: 0, "\(result.text)")
    let shown = Session(try Readme.text(of: "Tests/Transcripts/\(name)"), remarks: "#")
    try Self.compare(shown, with: Session(result.text).steps, name)
  }

  /// Expects of each command that it printed what is shown, or something else if the list says so.
  private static func compare(_ shown: Session, with replayed: [Session.Step], _ page: String) throws {
    expect(replayed.count, equals: shown.steps.count)
    for (step, run) in zip(shown.steps, replayed) {
      let difference = differences.first { $0.page == page && step.command.hasPrefix($0.command) }
      let output = Session.withoutProgram(run.output)
      let isSame =
        step.output.count == output.count
        && zip(output, step.output).allSatisfy { Session.line($0, matches: $1) }
      #expect(
        isSame == (difference == nil),
        """
        $ \(step.command)
        \(page): \(step.output.joined(separator: "\n        "))
        agent:  \(run.output.joined(separator: "\n        "))
        \(difference?.reason ?? "")
        """)
    }
  }
}

/// The commands of a page, each followed by its exit code.
private struct AgentSession {
  private let commands: [String]
  private let hasAgent: Bool

  init(_ shown: Session, hasAgent: Bool) {
    commands = shown.steps.map(\.command)
    self.hasAgent = hasAgent
  }

  /// - Returns: What each command printed, and its exit code.
  func replay(with tools: URL, files: [String: String]) throws -> [(step: Session.Step, exit: String)] {
    let runtime = "/tmp/agent-" + UUID().uuidString.prefix(13)
    let start = [
      "mkdir -m 700 \(runtime); export XDG_RUNTIME_DIR=\(runtime); vaultctl agent start",
      "export VAULTCTL_AGENT=required",
    ]
    let end = ["vaultctl agent stop; rm -r \(runtime)"]
    let between = hasAgent ? ["vaultctl lock --all"] : []
    let steps =
      (hasAgent ? start : []) + commands.flatMap { ["\(typed($0))\nexit=$?", "echo $exit"] + between }
    let text = (steps + (hasAgent ? end : [])).map { "$ " + $0.replacing("\n", with: "\n> ") + "\n" }.joined()
    let run = try Session(text).replay(with: tools, files: files).dropFirst(hasAgent ? start.count : 0)
    let stride = 2 + between.count
    return commands.enumerated().map { index, command in
      let first = run.index(run.startIndex, offsetBy: index * stride, limitedBy: run.endIndex) ?? run.endIndex
      guard first + 1 < run.endIndex else { return (Session.Step(command: command, output: ["not run"]), "") }
      return (Session.Step(command: command, output: run[first].output), run[first + 1].output.joined())
    }
  }

  /// The agent does nothing for a command of another home, which then works by itself.
  private func typed(_ command: String) -> String {
    hasAgent ? command.replacing("HOME=~", with: "VAULTCTL_AGENT=auto HOME=~") : command
  }
}
