import Foundation
import TestSupport
import Testing

/// Verified to fail when a guide has a changed number, omits a line or renames an option, when a passcode is echoed,
/// and when the transcript omits a prompt (after the five minutes that the replay waits).
@Suite("The guides and the transcripts", .bounded)
struct GuideTests {
  static let guides =
    (try? FileManager.default.contentsOfDirectory(atPath: Readme.root.path + "/docs/guides"))?
    .filter { $0.hasSuffix(".md") }.sorted() ?? []

  /// Pages that show what a person types at prompts, between ⟨ and ⟩.
  static let typed = ["everyday.md"]

  @Test(
    "every command of a guide does what the guide shows, in the guide's order",
    arguments: guides.filter { !typed.contains($0) })
  func replay(guide: String) throws {
    let page = "docs/guides/\(guide)"
    let shown = Session(try Readme.blocks("console", of: page).joined())
    // The reader of the guide saves the program under this name.
    let name = guide == "agent.md" ? "vault.py" : "transport.py"
    let programs = try Readme.blocks("python", of: page).map { (name, $0) }
    let files = Dictionary(uniqueKeysWithValues: programs)
    // A log names the program that writes it.
    let isShipped = guide == "logging.md"
    let tools = try isShipped ? Built.directory : Self.tools()
    defer { if !isShipped { try? FileManager.default.removeItem(at: tools) } }
    let replayed = try shown.replay(with: tools, files: files, canHaveAgent: guide == "agent.md")
    try shown.compare(with: replayed, page)
  }

  /// A folder with the programs that a guide calls. In it `vaultctl` is the one of tests, whose key derivation costs nothing:
  /// pages that a person types, and the transcripts, run the one that is installed.
  static func tools() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tools-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for (name, program) in ["vaultctl": "vaultctl-testing", "vault-http": "vault-http"] {
      try FileManager.default.createSymbolicLink(
        atPath: folder.path + "/" + name, withDestinationPath: Built.path(program))
    }
    return folder
  }

  @Test("there are guides with commands, and each command is in a place that is replayed")
  func fences() throws {
    var replayed = 0
    for guide in Self.guides {
      let lines = try Readme.text(of: "docs/guides/\(guide)").split(separator: "\n")
      let commands = lines.count { $0.hasPrefix("$ ") }
      let steps = Session(try Readme.blocks("console", of: "docs/guides/\(guide)").joined()).steps.count
      expect(commands, equals: steps, "\(guide) has commands outside of its console blocks")
      #expect(
        !lines.contains { $0.hasPrefix("```sh") || $0.hasPrefix("```bash") })
      if steps >= 10 { replayed += 1 }
    }
    #expect(replayed >= 4)
  }

  /// A question on the terminal would take the next lines of what a reader pastes.
  @Test(
    "no command of a page asks whether to make a recovery code",
    arguments: guides.map { "docs/guides/" + $0 } + ["README.md"])
  func noQuestion(page: String) throws {
    for step in Session(try Readme.blocks("console", of: page).joined()).steps
    where step.command.contains("vaultctl init") {
      #expect(step.command.contains("recovery-code"), "\(page): $ \(step.command)")
    }
  }

  static let transcripts =
    (try? FileManager.default.contentsOfDirectory(atPath: Readme.root.path + "/Tests/Transcripts"))?
    .filter { $0.hasSuffix(".transcript") }.sorted() ?? []

  @Test("a transcript comes out again on a pseudo-terminal, prompts and all", arguments: transcripts)
  func transcript(name: String) throws {
    let place = "Tests/Transcripts/\(name)"
    let shown = Session(try Readme.text(of: place), remarks: "#")
    #expect(shown.steps.count >= 2)
    try shown.compare(with: Self.screen(of: place), name)
  }

  @Test(
    "a page that a person types comes out again on a pseudo-terminal, prompts and all",
    arguments: typed.map { "docs/guides/" + $0 } + [ScenarioTests.page])
  func page(place: String) throws {
    let shown = Session(try Readme.blocks("console", of: place).joined())
    #expect(shown.steps.count >= 20)
    let run = try Self.screen(of: place).map {
      Session.Step(command: $0.command, output: Session.withoutProgram($0.output))
    }
    try shown.compare(with: run, place)
  }

  /// What a terminal shows when a person types a transcript or a page.
  private static func screen(of place: String) throws -> [Session.Step] {
    let python = try Shell.need("python3")
    let words = ["Tests/Transcripts/replay.py", place].map { "\(Readme.root.path)/\($0)" }
    let result = try Program(python, words + [Built.directory.path]).run()
    expect(result.status, equals: 0, "\(result.text)")
    return Session(result.text).steps
  }
}
