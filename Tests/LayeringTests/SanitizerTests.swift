import Foundation
import TestSupport
import Testing

@Suite("Tests left out under a sanitizer", .bounded)
struct SanitizerTests {
  // Verified to fail when a test has no row on the page, and when eleven tests are left out.
  @Test("at most ten are left out, each with its reason on the page", arguments: ["address", "thread"])
  func reasons(sanitizer: String) throws {
    let page = try Repository.text("docs/testing.md").split(separator: "\n").map(String.init)
    let names = try Repository.text("Tests/Sanitizers/\(sanitizer).left-out").split(separator: "\n")
      .filter { !$0.hasPrefix("#") }
    #expect((1...10).contains(names.count))
    for name in names {
      let row = page.first { $0.hasPrefix("| `\(name)` |") }?.split(separator: "|")
      let sanitizers = row?.dropFirst().first.map { $0.trimmingCharacters(in: .whitespaces) }
      #expect(sanitizers == sanitizer || sanitizers == "both", "docs/testing.md gives no reason for \(name)")
    }
  }
}
