import Foundation
import GuidePrograms
import TestSupport
import Testing

/// The programs are compiled without `package` access, as in the package in `Tests/Consumers`.
///
/// Verified to fail when a line of a program is changed in the guide, when a program has a line too many, when one has a
/// property `let secret: SecretBytes`, and when the library does not tell the server a code that was made online.
@Suite("The programs in the guides for users of the library", .bounded, .requirement("L13"))
struct ProgramTests {
  private static let pages = [
    "docs/guides/using-the-library.md", "docs/guides/ocra.md", "docs/guides/biokeys.md",
    "docs/guides/credentials.md", "docs/guides/transaction-signing.md", "docs/guides/client-keys.md",
    "docs/guides/three-d-secure.md", "docs/guides/card-consent.md", "docs/guides/oauth-client.md",
    "docs/guides/logging.md",
  ]
  private static let directory = "Tests/Consumers/Sources/Programs"

  @Test("each does what the guide says", arguments: Driver.all.map(\.name))
  func run(name: String) async throws {
    try await #require(Driver.all.first { $0.name == name }).run()
  }

  @Test("the guides contain each, letter by letter")
  func sameText() throws {
    let blocks = try Self.pages.flatMap { try Readme.blocks("swift", of: $0) }
    for driver in Driver.all {
      let isThere = blocks.contains(try Readme.text(of: "\(Self.directory)/\(driver.name).swift"))
      #expect(isThere, "\(Self.pages) do not contain \(driver.name).swift")
    }
  }

  /// `scripts/consumers keychain` builds its part for Linux, and runs it.
  @Test("the guide contains the program for Linux and for Apple's systems, letter by letter")
  func portable() throws {
    let program = try Readme.text(of: "Tests/Consumers/Keychain/Sources/Keychain/TokenStore.swift")
    #expect(try Readme.blocks("swift", of: "docs/guides/using-the-library.md").contains(program))
  }

  @Test(
    "each is short",
    arguments: zip(
      Driver.all.map(\.name), [33, 45, 36, 35, 35, 41, 41, 35, 33, 26, 17, 30, 20, 22, 28]))
  func lines(name: String, most: Int) throws {
    let lines = try Readme.text(of: "\(Self.directory)/\(name).swift").split(
      separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count - 1 <= most)
  }

  /// A program gives its secrets away or lends them; one that keeps a secret would need a box around it.
  @Test("none keeps a secret", arguments: Driver.all.map(\.name))
  func boxes(name: String) throws {
    let text = try Readme.text(of: "\(Self.directory)/\(name).swift")
    #expect(!text.contains(/(let|var) \w+: (SecretBytes|SharedSecret|Passcode)/))
  }

  @Test("each file of the programs has its driver")
  func drivers() throws {
    let files = try FileManager.default.contentsOfDirectory(
      atPath: Readme.root.appendingPathComponent(Self.directory).path)
    let programs = files.filter { $0.hasSuffix(".swift") }.map { String($0.dropLast(6)) }
    expect(programs.sorted(), equals: Driver.all.map(\.name).sorted())
  }
}
