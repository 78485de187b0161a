import Foundation
import TestSupport
import Testing

/// What people do with a vault needs no more commands and answers than with the best peer. `GuideTests` types the page.
///
/// Verified to fail when a part of the page has one more command or answer, and when it says one step more than the best peer.
@Suite("What people do, and in how many steps", .bounded)
struct ScenarioTests {
  static let page = "Tests/Transcripts/scenarios.md"

  @Test("each part of the page has the steps that it says, and no more than the best peer")
  func steps() throws {
    let parts = try Readme.text(of: Self.page).components(separatedBy: "\n## ").filter {
      $0.first?.isNumber == true
    }
    expect(parts.count, equals: 13)
    for part in parts {
      let title = String(part.prefix { $0 != "\n" })
      let said = try #require(part.firstMatch(of: /\nSteps: (\d+)\. Best peer: (\d+|none)/), "\(title)")
      let block = try #require(part.firstMatch(of: /\n```console\n((?s:.*?))\n```/), "\(title)").1
      let commands = block.split(separator: "\n").count { $0.hasPrefix("$ ") }
      let steps = commands + block.count { $0 == "⟨" }
      expect(steps, equals: try #require(Int(said.1)), "\(title)")
      #expect(steps <= Int(said.2) ?? .max, "\(title)")
    }
  }
}
