import Foundation
import TestSupport
import Testing

/// What `scripts/structure` reads in the index that the compiler wrote beside this build. An import line says what a file might
/// use; the index says what it uses, also where a room comes in by the re-export of another.
@Suite("References between rooms", .bounded)
struct ReferenceTests {
  private struct Edge: Decodable {
    let from: String
    let to: String
    let by: [String]
  }

  /// Verified to fail when the script leaves out edges by re-export, and when an edge is not in the list.
  @Test("each reference runs over an edge of the manifest, or over a named one by re-export")
  func edges() throws {
    let found = try edges(of: Repository.root.path, build: Built.directory.path)
    let named = Layers.byReexport.flatMap { from, rooms in rooms.map { "\(from) → \($0)" } }
    expect(found.map { "\($0.from) → \($0.to)" }.sorted(), equals: named.sorted())
    for edge in found { #expect(!edge.by.isEmpty, "\(edge.from) → \(edge.to) comes by no re-export") }
  }

  /// Verified to fail when the script leaves out edges by re-export.
  @Test("the script sees an edge by re-export, and none that only an import line has")
  func planted() throws {
    let package = try PlantedPackage()
    defer { package.remove() }
    let found = try edges(of: package.folder.path, build: package.build)
    expect(found.map { "\($0.from) → \($0.to) by \($0.by)" }, equals: ["Top → Base by [\"Middle\"]"])
  }

  /// Verified to fail when the script does not compare times, and when it ignores files that are not in the index.
  @Test("the script refuses an index of another state of the sources, and a build without one")
  func stale() throws {
    let package = try PlantedPackage()
    defer { package.remove() }
    let file = package.folder.appendingPathComponent("Sources/Base/Base.swift").path
    let later = Date(timeIntervalSince1970: 4_000_000_000)
    try FileManager.default.setAttributes([.modificationDate: later], ofItemAtPath: file)
    try #expect(
      run(package.folder.path, package.build).errors.contains("Sources/Base/Base.swift; build again"))
    try Data("public func more() {}\n".utf8)
      .write(to: package.folder.appendingPathComponent("Sources/Base/More.swift"))
    try #expect(run(package.folder.path, package.build).errors.contains("lacks 1 of 5 files"))
    try #expect(run(package.folder.path, package.folder.path).errors.contains("has no index"))
  }

  private func edges(of tree: String, build: String) throws -> [Edge] {
    let result = try run(tree, build)
    try #require(result.status == 0, "\(result.errors)")
    return try JSONDecoder().decode([Edge].self, from: result.output)
  }

  private func run(_ tree: String, _ build: String) throws -> Program.Result {
    let script = Repository.root.appendingPathComponent("scripts/structure").path
    return try Program(script, ["--edges", "--json", "--tree", tree, "--build", build]).run(errors: .apart)
  }
}

/// A package with an index: `Top` imports `Middle`, which exports `Base`, and refers to a function of each. `Idle` only imports `Base`.
private struct PlantedPackage {
  let folder: URL
  var build: String { folder.appendingPathComponent("build").path }

  private static let sources = [
    ("Base", "public func base() {}\npublic func unused() {}\n"),
    ("Middle", "@_exported public import Base\npublic func middle() {}\n"),
    ("Idle", "import Base\n"),
    ("Top", "import Base\nimport Middle\nfunc top() {\n  base()\n  middle()\n}\n"),
  ]

  init() throws {
    // The compiler notes real paths.
    folder = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
      .appendingPathComponent("planted-\(UUID().uuidString)")
    let manifest = """
      // swift-tools-version: 6.2
      import PackageDescription
      let package = Package(name: "planted", targets: [
        .target(name: "Base"), .target(name: "Middle", dependencies: ["Base"]),
        .target(name: "Idle"), .target(name: "Top", dependencies: ["Middle"]),
      ])
      """
    try FileManager.default.createDirectory(
      at: folder.appendingPathComponent("build"), withIntermediateDirectories: true)
    try Data(manifest.utf8).write(to: folder.appendingPathComponent("Package.swift"))
    for (name, text) in Self.sources { try compile(name, text) }
  }

  private func compile(_ name: String, _ text: String) throws {
    let sources = folder.appendingPathComponent("Sources/\(name)")
    try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
    let file = sources.appendingPathComponent("\(name).swift")
    try Data(text.utf8).write(to: file)
    let compiled = try Program(
      "swiftc",
      [
        "-emit-module", "-emit-module-path", "\(build)/\(name).swiftmodule", "-c", "-o", "\(build)/\(name).o",
        "-parse-as-library", "-module-name", name, "-I", build, "-index-store-path", "\(build)/index/store",
        "-index-ignore-system-modules", file.path,
      ]
    ).run()
    try #require(compiled.status == 0, "\(compiled.text)")
  }

  func remove() { try? FileManager.default.removeItem(at: folder) }
}
