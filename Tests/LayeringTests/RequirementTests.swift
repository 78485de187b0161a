import Foundation
import TestSupport
import Testing

@Suite("Requirements and their tests", .bounded)
struct RequirementTests {
  /// Verified to fail when a row is taken out, when a trait is taken out, and when a row names another test.
  @Test("docs/testing.md and the traits of tests name the same tests for the same ids")
  func traits() throws {
    let onPage = try Requirements.onPage()
    let inTests = try Requirements.inTests()
    #expect(onPage.count > 60)
    for missing in inTests.subtracting(onPage).sorted() { Issue.record("no row of the page: \(missing)") }
    for missing in onPage.subtracting(inTests).sorted() { Issue.record("no trait: \(missing)") }
  }

  /// Verified to fail when a row is taken out of which only a comment has the id.
  @Test("every id that a comment, a message or a script cites has its row")
  func citations() throws {
    let known = try Requirements.ids()
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

/// The ids of docs/testing.md and the tests that carry them, each as "id Target.Suite/function".
enum Requirements {
  static func ids() throws -> Set<String> { Set(try rows().map(\.id)) }

  static func onPage() throws -> Set<String> {
    Set(try rows().flatMap { row in row.places.map { "\(row.id) \($0)" } })
  }

  static func inTests() throws -> Set<String> {
    let files = try Repository.files(below: "Tests").filter { $0.hasSuffix(".swift") }
    return Set(try files.flatMap { try placesInTests($0) })
  }

  static func cited(in line: Substring) -> [String] {
    // Most lines have no letter before a digit, and a search by pattern is slow.
    guard zip(line.utf8, line.utf8.dropFirst()).contains(where: { 65...90 ~= $0 && 49...57 ~= $1 }) else {
      return []
    }
    let text = line.holds("RFC ") ? line.replacing(/RFC [0-9]+ [^,;.]*/, with: "") : line
    return text.matches(of: /(?:^|[\s("':])([AFKLPQRSU][1-9][0-9]?)(?=[\s,:;.)])/).map { String($0.1) }
  }

  private static func rows() throws -> [(id: String, places: [String])] {
    try Repository.text("docs/testing.md").split(separator: "\n").compactMap { line in
      guard let row = line.wholeMatch(of: /\| ([A-Z][0-9]+) \| [^|]+ \| ([^|]+) \| [^|]+ \| [^|]+ \|/) else {
        return nil
      }
      // Other places are commands.
      let places = row.2.matches(of: /`(\w+Tests\.[\w\/]+)`/).map { String($0.1) }
      return (String(row.1), places)
    }
  }

  /// Reads text, because a test cannot ask the library for the traits of others.
  private static func placesInTests(_ file: String) throws -> [String] {
    let text = try Repository.text(file)
    guard text.contains(".requirement(\"") else { return [] }
    let target = String(file.split(separator: "/")[1])
    var (outer, suite) = ("", "")
    var places: [String] = []
    for match in text.matches(of: /(?m)^(?:extension (\w+) \{|[ ]*@(Suite|Test)\b)/) {
      if let name = match.1 { outer = "\(name)/" }
      guard let kind = match.2 else { continue }
      let rest = text[match.range.upperBound...]
      guard let name = rest.firstMatch(of: /(?m)^\s*(?:\w+ )*(?:struct|enum|class|func) (\w+)/) else {
        continue
      }
      // A suite that is not indented is in no extension, whatever is above it.
      if match.0.hasPrefix("@Suite") { outer = "" }
      if kind == "Suite" { suite = "\(outer)\(name.1)" }
      let place = "\(target).\(suite)" + (kind == "Suite" ? "" : "/\(name.1)")
      let attribute = rest[..<name.range.lowerBound]
      guard let list = attribute.firstMatch(of: /\.requirement\(([^)]*)\)/) else { continue }
      places += list.1.matches(of: /"(\w+)"/).map { "\($0.1) \(place)" }
    }
    return places
  }
}
