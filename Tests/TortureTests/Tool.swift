import Foundation
import TestSupport
import Testing
import VaultKit
import VaultTestKit

/// `vaultctl-testing` on a temporary vault.
struct Tool: Sendable {
  let environment: [String: String]

  init(_ vault: TemporaryVault) throws {
    let outline = try VaultCore.outline(at: vault.path)
    let key = vault.protector.path(of: outline.deviceKey, outline.vault)
    environment = ["VAULTCTL_PATH": vault.path, "VAULTCTL_DEVICE_KEY": key, "HOME": vault.folder]
  }

  func start(_ words: [String], gate: Gate? = nil, errors: Bool = true) throws -> Running {
    try Running(Built.path("vaultctl-testing"), words, environment: environment, gate: gate, errors: errors)
  }

  /// Standard output of a command that has to succeed.
  func run(_ words: [String], input: String = "") throws -> String {
    let gate = try Gate()
    gate.write(input)
    gate.open()
    let process = try start(words, gate: gate)
    let text = process.lines().joined(separator: "\n")
    try #require(process.wait() == 0, "\(words): \(text)")
    return text
  }
}

enum Reading {
  /// "counter code" of the JSON of a code.
  static func counterAndCode(_ json: String) throws -> String {
    let object = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    return "\(try #require(object["counter"])) \(try #require(object["code"]))"
  }
}
