import Foundation
import TestSupport
import Testing

@Suite("Requirements and their tests", .bounded)
struct RequirementTests {
  /// Verified to fail when a row is taken out, when a trait is taken out, and when an id has two rows.
  @Test("each id of a test has one row in docs/testing.md, and each row a test or a command")
  func traits() throws {
    let rows = try Requirements.rows()
    let known = Set(rows.map(\.id))
    #expect(rows.count > 60)
    expect(rows.count, equals: known.count)
    let inTests = try Requirements.inTests()
    for id in inTests.subtracting(known).sorted() { Issue.record("\(id) has no row in docs/testing.md") }
    for row in rows where !row.hasCommand && !inTests.contains(row.id) {
      Issue.record("no test shows \(row.id)")
    }
  }

  /// Verified to fail when a row is taken out of which only a comment has the id.
  @Test("every id that a comment, a message or a script cites has its row")
  func citations() throws {
    let known = Set(try Requirements.rows().map(\.id))
    let files = try ["Sources", "Tests", "Benchmarks", "scripts", "docs"].flatMap {
      try Repository.files(below: $0)
    }
    for file in files where file.hasSuffix(".swift") || file.hasSuffix(".md") || file.hasPrefix("scripts/") {
      for line in try Repository.text(file).split(separator: "\n") {
        let isProse =
          file.hasSuffix(".md") || line.holds("//") || line.holds("\"") || line.hasPrefix("  '")
        for id in isProse ? Requirements.cited(in: line) : [] where !known.contains(id) {
          Issue.record("\(file) cites \(id), which has no row in docs/testing.md")
        }
      }
    }
  }

  @Test("an id is found in a comment, and what only looks like one is not")
  func citationsAreFound() {
    expect(Requirements.cited(in: "/// The counter (R4), and K16."), equals: ["R4", "K16"])
    expect(Requirements.cited(in: "report(\"R2: 3 states\")"), equals: ["R2"])
    #expect(Requirements.cited(in: "  // RFC 4226 R6 asks for 128; \\u{A0} %A0 U+3164").isEmpty)
  }

  /// Verified to fail when the map cites such a document.
  @Test("no file cites a document that is not in the repository")
  func absentDocuments() throws {
    let names = ["FIND" + "INGS", "REQUIRE" + "MENTS", "TAR" + "GETS", "DE" + "SIGN"]
    for file in try Repository.committedFiles() {
      guard let text = try? Repository.text(file) else { continue }
      for name in names where text.holds(name) { Issue.record("\(file) cites \(name)") }
    }
  }
}

/// The ids of docs/testing.md, and those that tests carry. `scripts/requirements` says which test carries which.
enum Requirements {
  /// Rows of speed have no test: `scripts/bench` shows them.
  static func rows() throws -> [(id: String, hasCommand: Bool)] {
    try Repository.text("docs/testing.md").split(separator: "\n").compactMap { line in
      line.wholeMatch(of: /\| ([A-Z][0-9]+) \| ([^|]+) \|/).map { row in
        (String(row.1), row.1.hasPrefix("P") || row.2.contains(/`(?:scripts|Tests)\//))
      }
    }
  }

  /// Reads text, because a test cannot ask the library for the traits of others.
  static func inTests() throws -> Set<String> {
    let files = try Repository.files(below: "Tests").filter { $0.hasSuffix(".swift") }
    return Set(
      try files.flatMap { file in
        try Repository.text(file).matches(of: /\.requirement\(([^)]*)\)/).flatMap { list in
          list.1.matches(of: /"([A-Z][0-9]+)"/).map { String($0.1) }
        }
      })
  }

  static func cited(in line: Substring) -> [String] {
    // Most lines have no letter before a digit, and a search by pattern is slow.
    guard zip(line.utf8, line.utf8.dropFirst()).contains(where: { 65...90 ~= $0 && 49...57 ~= $1 }) else {
      return []
    }
    let text = line.holds("RFC ") ? line.replacing(/RFC [0-9]+ [^,;.]*/, with: "") : line
    return text.matches(of: /(?:^|[\s("':])([AFKLPQRSU][1-9][0-9]?)(?=[\s,:;.)])/).map { String($0.1) }
  }
}
