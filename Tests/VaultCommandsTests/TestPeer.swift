import Foundation
import TestSupport
import Testing

/// The server of `Tests/Peers` for a tool: a transport program, and the operator's commands.
struct TestPeer {
  /// The program for `--transport`.
  let transport: String
  private let tool: Tool
  private let folder: String
  private static let programs = Tool.repository.appendingPathComponent("Tests/Peers").path

  /// - Parameter tool: Whose home has the state of the server.
  init(for tool: Tool, named name: String = "transport") throws {
    self.tool = tool
    folder = tool.home.path + "/peer"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    transport = try tool.program(
      name, "#!/bin/sh\nVAULT_TEST_PEER='\(folder)' exec '\(Self.programs)/peer'\n")
  }

  /// Runs a command of the operator, and returns the line that it prints.
  @discardableResult
  func control(_ words: String...) throws -> String { try control(words) }

  @discardableResult
  func control(_ words: [String]) throws -> String {
    var environment = tool.environment
    environment["VAULT_TEST_PEER"] = folder
    let run = try Program(Self.programs + "/control", words, environment: environment).run(errors: .inherited)
    expect(run.status, equals: 0, "\(words)")
    return String(decoding: run.output, as: UTF8.self).trimmingCharacters(in: .newlines)
  }

  /// What the server knows of a user.
  func shown(_ user: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(control("show", user).utf8)) as? [String: Any])
  }

  /// The faults that are still to come.
  func faults() throws -> [Any] {
    let object = try JSONSerialization.jsonObject(with: Data(control("show").utf8)) as? [String: Any]
    return object?["faults"] as? [Any] ?? []
  }

  /// What the server noted about requests that do not follow the guide.
  func complaints() throws -> [Any] {
    let object = try JSONSerialization.jsonObject(with: Data(control("show").utf8)) as? [String: Any]
    return object?["complaints"] as? [Any] ?? []
  }
}
