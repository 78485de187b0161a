import CommandLineKit
import TestSupport
import Testing

/// A program of its own, which has no vault: words, synonyms, and answers to words that it does not have.
@Suite("Words of a program", .bounded)
struct VocabularyTests {
  enum Take: Sample {
    static let words = ["take"]
    static let arguments = [
      Argument("NAME", .choice(["red", "blue"]), "A color."),
      Argument("SIZE", .number(1...99), "A size.", isRequired: false),
    ]
    static let long = Flag("long", short: "l", "All of it.")
    static let count = Setting(
      "count", short: "n", .number(1...99), "N", "How many.", defaultValue: "7", valueIsOptional: true)
    static let mark = Settings("mark", short: "m", .path, "TEXT", "A mark.")
    static let options = [long.option, count.option, mark.option]
  }
  enum BoxOpen: Sample { static let words = ["box", "open"] }
  enum BoxShut: Sample { static let words = ["box", "shut"] }
  enum Build: Sample { static let words = ["build"] }

  static let program = Program(
    name: "tool",
    families: [
      VerbFamily(word: "take", summary: "Take.", verbs: [Take.self]),
      VerbFamily(word: "box", summary: "Boxes.", verbs: [BoxOpen.self, BoxShut.self]),
      VerbFamily(word: "build", summary: "Build.", verbs: [Build.self]),
    ],
    commonOptions: [Flag("json", short: "j", "JSON.")], exitCodes: [.done, .usage],
    manual: Manual(
      summary: "s", purpose: "p", description: [], sections: [], examples: [],
      firstStep: "'tool build' begins",
      firstVerb: "build"),
    vocabulary: {
      Vocabulary(
        synonyms: [.init("grab", "take"), .init("box get", "take"), .init("open box", "box open")],
        redirects: [
          .init("git", "build FILE", "makes a copy"), .init("begin", "build"), .init("begin", "box open"),
          .init("fetch all", "take NAME --long"),
        ],
        optionSynonyms: [("all", "long")],
        optionAdvice: [.init("password", of: "take", "a secret is read from standard input")],
        familyVerbs: [("box", "box open")], familyNames: [("box", "take NAME")],
        prefix: .init("thing", before: "take"), bareWord: "take")
    },
    refusal: { _, _ in nil })

  private func run(_ line: String, isInteractive: Bool = false, hasAll: Bool = true) throws -> Invocation {
    let result = try Parser.parse(
      line.split(separator: " ").map(String.init), of: Self.program,
      in: Surroundings(isInteractive: isInteractive) { hasAll || $0 != "build" })
    guard case .run(let invocation) = result else { throw CommandError.usage("help") }
    return invocation
  }

  private func lines(_ line: String, hasAll: Bool = true) -> [String] {
    do {
      _ = try run(line, hasAll: hasAll)
      return []
    } catch { return (error as? CommandError)?.lines ?? [] }
  }

  @Test(
    "words that mean a verb are that verb, the longest first, and a word that says nothing is dropped",
    arguments: [
      ("take red", "take"), ("grab red", "take"), ("box get red", "take"), ("open box", "box open"),
      ("box", "box open"), ("box open", "box open"), ("thing take red", "take"), ("thing grab red", "take"),
      ("-j box -j", "box open"), ("box shut", "box shut"),
    ])
  func meaning(line: String, verb: String) throws {
    expect(try run(line).verb.name, equals: verb)
  }

  @Test(
    "letters are written together, and what follows one is its value as far as it can be",
    arguments: [
      ("take red -l", "", []), ("take red -n", "7", []), ("take red -n 20", "20", []),
      ("take red -n20", "20", []), ("take red -n=20", "20", []), ("take -ln20 red", "20", []),
      ("take red -nl", "7", []), ("take -n red", "7", []), ("take red -ma -m b", "", ["a", "b"]),
      ("take red -jlm x", "", ["x"]), ("take red --all", "", []), ("take red 5 -n", "7", []),
    ])
  func letters(line: String, count: String, marks: [String]) throws {
    let invocation = try run(line)
    expect(invocation.options["count"] ?? "", equals: count)
    expect(invocation.lists["mark"] ?? [], equals: marks)
    if line.contains("l") {
      #expect(invocation.has(Take.long) || !line.contains("-l") && !line.contains("all"))
    }
  }

  @Test(
    "a line that is not accepted is told what was typed and the command to copy",
    arguments: [
      (
        "tkae",
        [
          "'tkae' is not a command of tool",
          "did you mean 'tool take'? for an entry of that name: 'tool take tkae'",
        ]
      ),
      ("tkae red", ["'tkae' is not a command of tool", "did you mean 'tool take red'?"]),
      ("grbb red x9", ["'grbb' is not a command of tool", "did you mean 'tool take red'?"]),
      ("git", ["'git' is not a command of tool", "'tool build FILE' makes a copy"]),
      ("git a.b secret9", ["'git' is not a command of tool", "'tool build a.b' makes a copy"]),
      ("fetch all red", ["'fetch' is not a command of tool", "did you mean 'tool take red --long'?"]),
      ("shut", ["'shut' is not a command of tool", "did you mean 'tool box shut'?"]),
      (
        "box red",
        [
          "'red' is not a command of 'tool box'",
          "for an entry of that name: 'tool take red'; 'tool box -h' lists all",
        ]
      ),
      (
        "green",
        [
          "'green' is not a command of tool",
          "for an entry of that name: 'tool take green'; 'tool --help' lists all",
        ]
      ),
      ("thing build", ["'thing build' is not a command of tool", "did you mean 'tool build'?"]),
      (
        "take red --lnog",
        [
          "--lnog is not an option of 'tool take'",
          "did you mean --long? 'tool take --help' lists the options",
        ]
      ),
      (
        "take red --password=hunter2",
        ["--password is not an option of 'tool take'", "a secret is read from standard input"]
      ),
      (
        "take red -phunter2",
        [
          "-p is not an option of 'tool take'",
          "a NAME that begins with a dash is written after --: 'tool take -- NAME'",
        ]
      ),
      (
        "take red 5 hunter2",
        ["unexpected argument 4 of 'tool take'", "usage: tool take NAME [SIZE] [options]"]
      ),
      ("take", ["NAME is missing", "usage: tool take NAME [SIZE] [options]"]),
      ("", ["no command", "'tool --help' lists all; 'tool build' begins"]),
    ])
  func told(line: String, expected: [String]) {
    expect(lines(line), equals: expected)
  }

  @Test("what makes a thing that is there is not advised")
  func present() {
    expect(lines("begin"), equals: ["'begin' is not a command of tool", "did you mean 'tool build'?"])
    expect(
      lines("begin", hasAll: false),
      equals: ["'begin' is not a command of tool", "did you mean 'tool box open'?"])
    expect(
      lines("biuld", hasAll: false).last,
      equals: "for an entry of that name: 'tool take biuld'; 'tool --help' lists all")
    expect(lines("", hasAll: false).last, equals: "'tool --help' lists all")
  }

  @Test("a word alone is a name at a terminal, unless it is a command or a synonym")
  func bareWord() throws {
    let invocation = try run("red -l", isInteractive: true)
    #expect(invocation.verb == Take.self && invocation[Take.arguments[0]] == "red")
    expect(invocation.unknownWord?.message, equals: "'red' is not a command of tool")
    #expect(try run("build", isInteractive: true).unknownWord == nil)
    #expect(throws: CommandError.self) { try run("red blue", isInteractive: true) }
    #expect(throws: CommandError.self) { try run("red", isInteractive: false) }
  }
}

protocol Sample: Verb {}

extension Sample {
  static var summary: String { "Does it." }
  static var options: [Option] { [] }
  static var secretOptions: [SecretOptions] { [] }
  static var facts: [(name: String, text: String)] { [] }
  static var exitCodes: [ExitCode] { [.done, .usage] }
  static var examples: [String] { ["tool \(name)", "tool \(name) --json"] }
  static func check(_ invocation: Invocation) throws(CommandError) {}
}
