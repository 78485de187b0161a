import Foundation
import TestSupport
import Testing

@Suite("The example of a vault with items", .bounded)
struct ExampleTests {
  private let file = "Tests/ReadmeTests/Example.swift"

  @Test("is the file that is compiled here, letter by letter")
  func sameText() throws {
    let blocks = try Readme.blocks("swift", of: "docs/guides/using-the-library.md")
    try #expect(blocks.contains(Readme.text(of: file)))
  }

  @Test("does what it says")
  func runs() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("example-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    try await expect(keepPassword(in: folder.path), equals: [13])
  }

  @Test("compiles for a user of the library, who sees only what is public")
  func publicOnly() throws {
    try expect(Stranger.complaints(about: Readme.text(of: file)), equals: "")
  }

  @Test("a user of the library cannot use what is not public")
  func packageIsHidden() throws {
    let complaints = try Stranger.complaints(
      about: "import SecretMemory\n\nfunc example() { _ = SecretBytes(copying: [1, 2, 3] as [UInt8]) }\n")
    #expect(complaints.contains("error:"))
  }
}

/// A compiler that knows our modules as another package would.
enum Stranger {
  /// What the compiler says about `source`; empty when it is content.
  static func complaints(about source: String) throws -> String {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("stranger-\(UUID().uuidString).swift")
    defer { try? FileManager.default.removeItem(at: file) }
    try source.write(to: file, atomically: true, encoding: .utf8)

    var arguments = ["-typecheck", "-swift-version", "6", "-I", "\(Built.directory.path)/Modules"]
    for map in try moduleMaps() {
      arguments += ["-Xcc", "-fmodule-map-file=\(map.path)"]
    }

    let result = try Program("swiftc", arguments + [file.path]).run()
    return result.status == 0 ? "" : "error: exit \(result.status)\n\(result.text)"
  }
  /// The C modules under ours: those of system libraries lie in the sources, those of our own C in the products.
  private static func moduleMaps() throws -> [URL] {
    let libraries = Readme.root.appendingPathComponent("Sources/CSystem")
    let places = [libraries, Built.directory]
    return try places.flatMap { place in
      try FileManager.default.contentsOfDirectory(at: place, includingPropertiesForKeys: nil)
        .map { $0.appendingPathComponent("module.modulemap") }
    }
    .filter { FileManager.default.fileExists(atPath: $0.path) }
  }
}
