import Foundation
import TestSupport

/// The built `vaultctl-testing`, in the rig's session.
extension Rig {
  struct Run {
    let exit: Int32
    let text: String
    let errors: String
  }

  func tool(_ words: String..., input: String = "") throws -> Run { try run(words, input: input) }

  func run(_ words: [String], _ variables: [String: String] = [:], input: String = "") throws -> Run {
    try program(Built.path("vaultctl-testing"), words, variables, input: input)
  }

  /// Runs a program to its end, in the rig's home.
  func program(
    _ path: String, _ words: [String], _ variables: [String: String] = [:], input: String = ""
  ) throws -> Run {
    let home = URL(fileURLWithPath: folder + "/home")
    try input.write(toFile: folder + "/input", atomically: false, encoding: .utf8)
    let result = try Program(path, words, environment: environment.merging(variables) { $1 }, in: home)
      .run(input: FileHandle(forReadingAtPath: folder + "/input"), errors: .apart)
    return Run(exit: result.status, text: result.text, errors: result.errors)
  }

  /// The shared libraries that a command loads, as the dynamic linker tells.
  func libraries(_ words: String...) throws -> [String] {
    let log = folder + "/libraries"
    _ = try run(words, ["LD_DEBUG": "files", "LD_DEBUG_OUTPUT": log])
    let name = try FileManager.default.contentsOfDirectory(atPath: folder).first {
      $0.hasPrefix("libraries.")
    }
    guard let name else { return [] }
    defer { try? FileManager.default.removeItem(atPath: folder + "/" + name) }
    let text = try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
    return text.split(separator: "\n").filter { $0.contains("generating link map") || $0.contains("file=") }
      .map(String.init)
  }

  func write(_ name: String, _ content: String) throws {
    let path = folder + "/home/" + name
    try content.write(toFile: path, atomically: false, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
  }

  func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: folder + "/" + name) }

  /// Every file below a folder of the rig.
  func files(_ name: String) throws -> [String] {
    let place = folder + "/" + name
    guard FileManager.default.fileExists(atPath: place) else { return [] }
    return try FileManager.default.subpathsOfDirectory(atPath: place).map { place + "/" + $0 }.filter {
      (try? FileManager.default.attributesOfItem(atPath: $0)[.type] as? FileAttributeType) == .typeRegular
    }
  }

  func keyFiles() throws -> [String] {
    try files("home").filter { $0.hasSuffix(".key") || $0.hasSuffix(".new") }
  }
}
