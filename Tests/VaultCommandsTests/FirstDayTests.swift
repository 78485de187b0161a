import Foundation
import TestSupport
import Testing

/// What people type who come from another password manager (Tests/FirstDay): it works, or the answer names the command.
///
/// Each line of a table is what was typed, the exit code, and a piece of what is told, between bars.
@Suite("The first day", .bounded)
struct FirstDayTests {
  struct Guess {
    let line: String
    let exit: Int32
    let told: String

    init(_ row: Substring) throws {
      let parts = row.split(separator: "|", maxSplits: 2, omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespaces) }
      try #require(parts.count == 3, "\(row)")
      line = parts[0]
      exit = try #require(Int32(parts[1]), "\(row)")
      told = parts[2]
    }
  }

  private static let folder = Tool.repository.appendingPathComponent("Tests/FirstDay")

  private static func guesses(_ name: String) throws -> [Guess] {
    try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8).split(separator: "\n")
      .filter { !$0.hasPrefix("#") }.map { try Guess($0) }
  }

  private static func commands(of words: String) -> [String] { words.split(separator: " ").map(String.init) }

  @Test(
    "each guess does what was meant, or is answered with the command",
    arguments: ["findings.table", "others.table"])
  func guesses(name: String) throws {
    let start = try Tool()
    try expect(start("init", "--no-passcode").exit, equals: 0)
    for (name, service) in [("mail", "mail"), ("work/github", "github")] {
      try expect(start("add", name, "-g", "--service", service).exit, equals: 0)
    }
    let guesses = try Self.guesses(name)
    #expect(guesses.count >= 60)
    for guess in guesses {
      let tool = try Tool()
      try FileManager.default.copyItem(
        atPath: start.home.path + "/.local", toPath: tool.home.path + "/.local")
      let run = try tool.run(Self.commands(of: guess.line))
      #expect(
        run.exit == guess.exit && (guess.told.isEmpty || (run.errors + run.text).contains(guess.told)),
        "\(guess.line): \(run.exit) \(run.errors)")
      #expect(!run.errors.contains("secret9"), "\(guess.line)")
    }
  }

  @Test("the table has each guess of the findings once, and in the order of the list")
  func whole() throws {
    let list = try String(contentsOf: Self.folder.appendingPathComponent("findings.txt"), encoding: .utf8)
    let typed = list.split(separator: "\n").filter { !$0.hasPrefix("#") }
      .map { $0.components(separatedBy: "vaultctl ")[1] }
    try expect(Self.guesses("findings.table").map(\.line), equals: typed)
    expect(typed.count, equals: 143)
  }
}
