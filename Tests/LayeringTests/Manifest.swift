import Foundation

/// What `swift package dump-package` says about this package.
struct Manifest {
  struct Target {
    let name: String
    let type: String
    let dependencies: Set<String>
  }

  let targets: [Target]
  let packageDependencies: Int

  /// Reads it with a scratch folder of its own: the build that runs the tests may hold the lock of the usual one.
  static func read() throws -> Manifest {
    let scratch = FileManager.default.temporaryDirectory
      .appendingPathComponent("manifest-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: scratch) }
    let dump = try Repository.run("swift", "package", "--scratch-path", scratch.path, "dump-package")
    return try Manifest(dump: dump)
  }

  init(dump: String) throws {
    let package = try JSONDecoder().decode(Package.self, from: Data(dump.utf8))
    packageDependencies = package.dependencies.count
    targets = package.targets.map { target in
      Target(
        name: target.name, type: target.type,
        dependencies: Set(target.dependencies.flatMap(\.names)))
    }
  }

  private struct Package: Decodable {
    let dependencies: [Ignored]
    let targets: [Entry]

    struct Ignored: Decodable {}

    struct Entry: Decodable {
      let name: String
      let type: String
      let dependencies: [Dependency]
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
