import Foundation
import TestSupport

/// The source tree that these tests were compiled from.
enum Repository {
  static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  static func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: root.appendingPathComponent(path).path)
  }

  /// The paths of all regular files below `folder`, relative to the root, sorted.
  static func files(below folder: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: root.appendingPathComponent(folder).path)
      .map { folder.isEmpty ? $0 : "\(folder)/\($0)" }
      .filter { isRegularFile($0) }
      .sorted()
  }

  /// Where the rooms are: what is installed, what tests start and import, and the benchmarks.
  static let placesOfRooms = ["Sources", "Tests/Tools", "Benchmarks"]

  /// The Swift files of all rooms.
  static func sources() throws -> [String] {
    try placesOfRooms.flatMap { try files(below: $0) }.filter { $0.hasSuffix(".swift") }
  }

  static func folders(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent(folder).path)
      .filter { isFolder("\(folder)/\($0)") }
      .sorted()
  }

  /// What git tracks; where git has no answer (an unpacked archive), everything that is no build product.
  static func committedFiles() throws -> [String] {
    if exists(".git"), let list = try? run("git", "ls-files", "-z") {
      return list.split(separator: "\0").map(String.init)
    }
    return try files(below: "").filter { !$0.contains(".build/") && !$0.hasSuffix(".pyc") }
  }

  /// The standard output of a program started in the root.
  ///
  /// - Parameter environment: `nil` for that of the test.
  static func run(
    _ program: String, _ arguments: String..., environment: [String: String]? = nil
  ) throws -> String {
    let result = try Program(program, arguments, environment: environment, in: root).run(errors: .inherited)
    guard result.status == 0 else { throw ProgramFailed(program: program, status: result.status) }
    return result.text
  }

  struct ProgramFailed: Error {
    let program: String
    let status: Int32
  }

  private static func isRegularFile(_ path: String) -> Bool {
    kind(of: path) == .typeRegular
  }

  private static func isFolder(_ path: String) -> Bool {
    kind(of: path) == .typeDirectory
  }

  private static func kind(of path: String) -> FileAttributeType? {
    let attributes = try? FileManager.default.attributesOfItem(
      atPath: root.appendingPathComponent(path).path)
    return attributes?[.type] as? FileAttributeType
  }
}
