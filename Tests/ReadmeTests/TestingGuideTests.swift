import Foundation
import TestSupport
import Testing

/// Verified to fail when a word of the example differs, and when `FixedClock` is not public.
@Suite("The example of the guide about tests", .bounded, .requirement("L2"))
struct TestingGuideTests {
  private let page = "docs/guides/testing-your-program.md"

  @Test("is the file that runs here, letter by letter")
  func sameText() throws {
    let file = Readme.root.appendingPathComponent("Tests/ReadmeTests/LoginCodeTests.swift")
    try expect(Readme.blocks("swift", of: page).first, equals: String(contentsOf: file, encoding: .utf8))
  }

  @Test("compiles for a user of the library, who sees only what is public")
  func publicOnly() throws {
    try expect(
      Stranger.complaints(about: try #require(try Readme.blocks("swift", of: page).first)), equals: "")
  }
}
