import Foundation
import TestSupport
import Testing

/// Programs in the place of those of the system, for a script that asks what is installed: of this machine, it sees and
/// changes nothing.
///
/// They describe a Debian with Swift 6.3 and with every package but `missing`, which `apt-get install` installs.
struct StandIns {
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent("stand-ins-\(UUID().uuidString)")

  /// - Parameter user: Who runs the script; 0 is root.
  init(missing: String = "", user: Int = 0) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    try add("id", "echo \(user)")
    try add("sudo", "exit 1")
    try add("swift", "[ \"$1\" = --version ] && echo 'Swift version 6.3.1'", isRecorded: true)
    try add("apt-get", "case \"$*\" in *install*) : >'\(folder.path)/installed' ;; esac", isRecorded: true)
    let query = """
      for name in "$@"; do
        case $name in
          -*) ;;
          '\(missing)') [ ! -e '\(folder.path)/installed' ] || echo "installed $name" ;;
          *) echo "installed $name" ;;
        esac
      done
      """
    try add("dpkg-query", query, isRecorded: true)
  }

  /// Puts a program there, in place of one of the same name.
  ///
  /// Another process makes the file: a child that another test starts meanwhile would hold one of ours open for writing,
  /// and such a file cannot be run.
  func add(_ name: String, _ body: String, isRecorded: Bool = false) throws {
    let draft = folder.appendingPathComponent("draft").path
    let record = isRecorded ? "printf '%s\\n' \"\(name) $*\" >>'\(calls.path)'\n" : ""
    try "#!/bin/sh\n\(record)\(body)\n".write(toFile: draft, atomically: false, encoding: .utf8)
    let path = folder.appendingPathComponent(name).path
    try expect(Program("/usr/bin/install", ["-m", "700", draft, path]).run().status, equals: 0)
  }

  /// A link to a program of the system.
  func link(_ name: String) throws {
    let place = try #require(Shell.find(name))
    try FileManager.default.createSymbolicLink(
      atPath: folder.appendingPathComponent(name).path, withDestinationPath: place)
  }

  /// Runs a script of this repository.
  ///
  /// - Parameter path: Where it finds programs beside the stand-ins.
  func run(_ script: String, _ arguments: [String], path: String = ":/usr/bin:/bin") throws -> (
    status: Int32, text: String
  ) {
    let result = try Program(
      Repository.root.appendingPathComponent(script).path, arguments,
      environment: ["PATH": folder.path + path, "HOME": folder.path]
    ).run()
    return (result.status, result.text)
  }

  /// The recorded programs that were started, with their arguments; `dpkg-query` without its long list.
  func started() -> [String] {
    let lines = (try? String(contentsOf: calls, encoding: .utf8))?.split(separator: "\n") ?? []
    return lines.map { $0.hasPrefix("dpkg-query ") ? "dpkg-query" : String($0) }
  }

  func remove() { try? FileManager.default.removeItem(at: folder) }

  private var calls: URL { folder.appendingPathComponent("calls") }
}
