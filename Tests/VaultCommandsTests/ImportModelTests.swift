import Foundation
import TestSupport
import Testing

/// Imports of random files whose names, services and accounts collide, into vaults that collide with them.
///
/// `TORTURE_SEED` replaces the seeds. Verified to fail on commit ebe6282a in each mode, when a second line of a name replaces the
/// first one, when a renamed line takes the name of a later one, when its account is changed, when an item of the same account is
/// deleted, when a skipped line is not reported, and when the report has a name in another form of Unicode than the vault; and when
/// a line that has expired is left out.
@Suite("Random imports", .bounded)
struct ImportModelTests {
  static let seeds: [UInt64] =
    ProcessInfo.processInfo.environment["TORTURE_SEED"].flatMap(UInt64.init).map { [$0] } ?? Array(1...4)
  static let modes = ["fail", "skip", "rename", "replace"]

  @Test(
    "each line is stored as it was typed or named as skipped, and each item that is not named as replaced stays as it was",
    arguments: seeds, modes)
  func walk(seed: UInt64, mode: String) throws {
    var lines = RandomLines(seed: seed)
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    for round in 0..<4 {
      let file = lines.next(atMost: mode == "fail" ? 4 : 14)
      let input = Array(file.map(\.text).joined(separator: "\n").utf8)
      let before = try Snapshot(of: tool)
      let words = ["import", "jsonl", "--on-duplicate", round == 0 ? "rename" : mode, "--json"]
      let dry = try tool.run(words + ["--dry-run"], input: input)
      try expect(Snapshot(of: tool), equals: before, "seed \(seed), round \(round): a dry run")
      let run = try tool.run(words, input: input)
      let after = try Snapshot(of: tool)
      expect(dry.exit, equals: run.exit)
      guard run.exit == 0 else {
        #expect(run.exit == 8 && before.refuses(file, mode), "seed \(seed), round \(round): \(run.errors)")
        expect(after, equals: before, "seed \(seed), round \(round): a refused import")
        continue
      }
      let reports = try Report.all(in: run)
      try expect(Report.all(in: dry).map(\.decision), equals: reports.map(\.decision))
      try ImportCheck(file: file, reports: reports, before: before, after: after).run()
    }
    #expect(try tool("vault", "check").text.contains("everything is sound"))
  }
}

/// What a report and two states of a vault must say of a file.
private struct ImportCheck {
  let file: [RandomLine]
  let reports: [Report]
  let before: Snapshot
  let after: Snapshot

  func run() throws {
    expect(reports.map(\.line), equals: Array(1...file.count))
    var replaced: Set<[UInt8]> = []
    var stored: Set<String> = []
    for (line, report) in zip(file, reports) {
      let holder = before.items[line.key]
      switch report.result {
      case "added": #expect(report.name == line.key && report.duplicateOf == nil)
      case "renamed":
        #expect(
          report.oldName == Array(line.name.utf8) && report.name.starts(with: line.key + Array("-".utf8)))
        #expect(report.duplicateOf != nil && !file.contains { $0.key == report.name })
      case "skipped":
        #expect(holder != nil && report.duplicateOf == holder?.id && report.name == Array(line.name.utf8))
      case "replaced":
        #expect(holder != nil && report.duplicateOf == holder?.id && report.name == line.key)
        #expect(replaced.insert(report.name).inserted)
      default: Issue.record("\(report.result)")
      }
      guard report.result != "skipped" else { continue }
      let item = try #require(after.items[report.name], "line \(report.line) is not there")
      #expect(item.id == report.id && stored.insert(item.id).inserted)
      try line.compare(with: item)
    }
    for (name, item) in before.items where !replaced.contains(name) {
      expect(after.items[name], equals: item, "\(String(decoding: name, as: UTF8.self))")
    }
    expect(after.items.count, equals: before.items.count - replaced.count + stored.count)
    let discarded = replaced.filter { before.items[$0]?.isCredential == false }
    expect(after.trashCount, equals: before.trashCount + discarded.count)
  }
}

/// The items of a vault by the bytes of their names, which are in form C of Unicode: `é` in two forms is one name.
private struct Snapshot: Equatable {
  struct Item: Equatable {
    let id: String
    let isCredential: Bool
    /// The line of an export: everything but the identifier.
    let line: String
  }

  let items: [[UInt8]: Item]
  /// How many items are in the trash, where replaced passwords are.
  let trashCount: Int

  init(of tool: Tool) throws {
    let listed = try #require(try tool("ls", "--sort", "added", "--json").json["items"] as? [[String: Any]])
    let all = try tool("export", "jsonl", "--plain").text.split(separator: "\n").map(String.init)
    let lines = all.filter { !$0.contains(#""trashUntil":"#) }
    trashCount = all.count - lines.count
    expect(lines.count, equals: listed.count)
    var items: [[UInt8]: Item] = [:]
    for (item, line) in zip(listed, lines) {
      let name = try #require(item["name"] as? String)
      items[Array(name.utf8)] = Item(
        id: try #require(item["id"] as? String), isCredential: item["kind"] as? String == "otp", line: line)
    }
    self.items = items
  }

  /// Whether a file cannot be imported here as a whole.
  func refuses(_ file: [RandomLine], _ mode: String) -> Bool {
    var seen: Set<[UInt8]> = []
    return file.contains { line in
      let name = line.key
      let isFirst = seen.insert(name).inserted
      return switch mode {
      case "fail": !isFirst || items[name] != nil
      case "replace": isFirst && items[name] != nil && items[name]?.isCredential != line.isCredential
      default: false
      }
    }
  }
}

/// What an import says of one line.
private struct Report {
  let line: Int
  let name: [UInt8]
  let result: String
  let id: String?
  let oldName: [UInt8]?
  /// The identifier of an item, or the number of a line.
  let duplicateOf: String?

  var decision: String { "\(line) \(result) \(name) \(duplicateOf ?? "")" }

  static func all(in run: Tool.Run) throws -> [Report] {
    try #require(try run.json["items"] as? [[String: Any]]).map { item in
      let other = item["duplicateOf"] as? [String: Any]
      return Report(
        line: try #require(item["line"] as? Int), name: Array(try #require(item["name"] as? String).utf8),
        result: try #require(item["result"] as? String), id: item["id"] as? String,
        oldName: (item["oldName"] as? String).map { Array($0.utf8) },
        duplicateOf: other?["id"] as? String ?? (other?["line"] as? Int).map(String.init))
    }
  }
}

private struct RandomLine {
  let name: String
  let isCredential: Bool
  /// service, account, label, comment
  let texts: [String: String]
  /// 32 characters of Base32.
  let secret: String
  /// Passwords only: an expired credential is in no export.
  let hasExpired: Bool

  /// The bytes of the name as a vault has it.
  var key: [UInt8] { Array(name.precomposedStringWithCanonicalMapping.utf8) }

  var text: String {
    let secret =
      isCredential ? #""uri":"otpauth://totp/x?secret=\#(secret)""# : #""secret":"\#(secret)""#
    let texts = texts.sorted { $0.key < $1.key }.map { #","\#($0.key)":"\#($0.value)""# }.joined()
    return
      #"{"kind":"\#(isCredential ? "otp" : "password")","name":"\#(name)",\#(secret)\#(texts)\#(hasExpired ? ",\"expires\":1000" : "")}"#
  }

  /// Expects that the export of an item has everything as it was typed, and texts by which it is found in form C.
  func compare(with item: Snapshot.Item) throws {
    let stored = try #require(
      try JSONSerialization.jsonObject(with: Data(item.line.utf8)) as? [String: Any])
    expect(stored["kind"] as? String, equals: isCredential ? "otp" : "password")
    for key in ["service", "account", "label", "comment"] {
      let typed = texts[key].flatMap { $0.isEmpty ? nil : $0 }
      let kept = key == "comment" ? typed : typed?.precomposedStringWithCanonicalMapping
      expect(
        (stored[key] as? String).map { Array($0.utf8) }, equals: kept.map { Array($0.utf8) },
        "\(key) of \(text)")
    }
    expect(stored["expires"] as? Int, equals: hasExpired ? 1000 : nil)
    guard isCredential else { return expect(stored["secret"] as? String, equals: secret) }
    #expect((stored["uri"] as? String)?.contains("secret=\(secret)") == true)
  }
}

/// Lines from small sets of names and texts, so that they collide. Each has a secret of its own.
private struct RandomLines {
  private var random: SeededGenerator
  private var count = 0

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func next(atMost most: Int) -> [RandomLine] {
    (0..<Int.random(in: 1...most, using: &random)).map { _ in line() }
  }

  private mutating func line() -> RandomLine {
    count += 1
    let digits = String(count).utf8.map { Character(Unicode.Scalar($0 - 0x30 + 0x41)) }
    var texts: [String: String] = [:]
    for (key, values) in Self.texts { texts[key] = values.randomElement(using: &random)! }
    let isCredential = Int.random(in: 0..<4, using: &random) == 0
    // A URI has an account of its own.
    if isCredential, texts["account"]?.isEmpty != false { texts["account"] = "alice" }
    return RandomLine(
      name: Self.names.randomElement(using: &random)!, isCredential: isCredential, texts: texts,
      secret: String(digits) + String(repeating: "A", count: 32 - digits.count),
      hasExpired: !isCredential && Int.random(in: 0..<6, using: &random) == 0)
  }

  private static let names = [
    "a", "a-2", "a-2-2", "a-3", "A", "alice", "alice-2", "\u{E9}", "e\u{301}", "e\u{301}-2", "mail box",
  ]
  private static let texts: KeyValuePairs = [
    "service": ["", "s", "s", "https://github.com"],
    "account": ["", "a", "alice", "alice-2", "\u{E9}", "e\u{301}"],
    "label": ["", "l"], "comment": ["", "c", "e\u{301}"],
  ]
}
