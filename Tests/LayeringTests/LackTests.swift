import TestSupport
import Testing

@Suite("What a machine may lack", .bounded)
struct LackTests {
  /// Verified to fail when a row is taken out, and when a row names another test.
  @Test("docs/testing.md has a row for each reason to skip a test, and names tests that exist")
  func rows() throws {
    let page = try Repository.text("docs/testing.md")
    let section = try #require(page.split(separator: "### What a machine may lack\n").last)
      .split(separator: "\n## ")[0]
    let rows = section.matches(of: /(?m)^\| `([^`]+)` \| [^|]+ \| ([^|]+) \|$/)
    expect(Set(rows.map { String($0.1) }), equals: Set(Lack.allCases.map(\.rawValue)))
    for row in rows {
      let places = row.2.matches(of: /`(\w+)(?:\.(?:\w+\/)?(\w+))?`/)
      #expect(!places.isEmpty, "no tests for “\(row.1)”")
      for place in places {
        let sources = try Repository.files(below: "Tests/\(place.1)").map { try Repository.text($0) }
        #expect(
          place.2.map { name in sources.contains { $0.holds("struct \(name) ") || $0.holds("enum \(name) ") }
          }
            ?? !sources.isEmpty, "docs/testing.md names \(place.0)")
      }
    }
  }
}
