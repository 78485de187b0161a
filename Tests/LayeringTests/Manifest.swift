import Foundation

/// What `swift package dump-package` says about this package.
struct Manifest {
  struct Target {
    let name: String
    let type: String
    /// Its directory, from the root.
    let path: String
    let dependencies: Set<String>
    /// The names of its settings of the compiler.
    let settings: Set<String>
    let hasPackageAccess: Bool
  }

  let targets: [Target]
  /// The modules of each product.
  let products: [String: Set<String>]
  let packageDependencies: Int

  /// - Parameter warnings: What `VAULT_WARNINGS` is; `nil` where it is not set, as for another package that uses ours.
  static func read(warnings: String? = nil) throws -> Manifest {
    try (warnings == "errors" ? forScripts : forOthers).get()
  }

  private static let forOthers = Result { try Manifest(warnings: nil) }
  private static let forScripts = Result { try Manifest(warnings: "errors") }

  /// Reads it with a scratch folder of its own: the build that runs the tests may hold the lock of the usual one.
  private init(warnings: String?) throws {
    let scratch = FileManager.default.temporaryDirectory
      .appendingPathComponent("manifest-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: scratch) }
    var environment = ProcessInfo.processInfo.environment
    environment["VAULT_WARNINGS"] = warnings
    let dump = try Repository.run(
      "swift", "package", "--scratch-path", scratch.path, "dump-package", environment: environment)
    try self.init(dump: dump)
  }

  init(dump: String) throws {
    let package = try JSONDecoder().decode(Package.self, from: Data(dump.utf8))
    packageDependencies = package.dependencies.count
    products = Dictionary(uniqueKeysWithValues: package.products.map { ($0.name, Set($0.targets)) })
    targets = package.targets.map { target in
      Target(
        name: target.name, type: target.type,
        path: target.path ?? "\(target.type == "test" ? "Tests" : "Sources")/\(target.name)",
        dependencies: Set(target.dependencies.flatMap(\.names)),
        settings: Set(target.settings.flatMap(\.kind.keys)), hasPackageAccess: target.packageAccess)
    }
  }

  private struct Package: Decodable {
    let dependencies: [Ignored]
    let products: [Product]
    let targets: [Entry]

    struct Ignored: Decodable {}

    struct Product: Decodable {
      let name: String
      let targets: [String]
    }

    /// `{"kind": {"swiftLanguageMode": {"_0": "6"}}, "tool": "swift"}`
    struct Setting: Decodable {
      let kind: [String: Ignored]
    }

    struct Entry: Decodable {
      let name: String
      let type: String
      let path: String?
      let dependencies: [Dependency]
      let settings: [Setting]
      let packageAccess: Bool
    }
  }

  /// `{"byName": ["SecretMemory", null]}`, or `target` or `product` in place of `byName`.
  private struct Dependency: Decodable {
    let names: [String]

    init(from decoder: any Decoder) throws {
      let kinds = try decoder.singleValueContainer().decode([String: [Word]].self)
      names = kinds.values.compactMap { $0.first?.text }
    }

    struct Word: Decodable {
      let text: String?

      init(from decoder: any Decoder) throws {
        text = try? decoder.singleValueContainer().decode(String.self)
      }
    }
  }
}
