import Foundation
import TestSupport
import Testing

/// Somebody who can write the vault's folder, or a person who keeps a copy there, and a restore that clears it away.
@Suite("Attacks on a restore", .bounded)
struct AttackRestoreTests {
  // Fails when a file beside the vault that names the vault's own device key is taken for what a restore has left.
  @Test(
    "a copy of the vault under the name of an interrupted restore does not cost the vault its device key",
    arguments: [false, true], ["copy", "symbolic link"])
  func copyBeside(isNamedKey: Bool, _ form: String) throws {
    let tool = try Tool()
    if isNamedKey { tool.environment["VAULTCTL_DEVICE_KEY"] = tool.home.path + "/keys/device.key" }
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    try expect(tool("add", "mail", input: [1, 2, 3]).exit, equals: 0)
    let backup = tool.home.path + "/b.vault"
    try expect(tool("backup", backup, "--passphrase-fd", "3", secrets: [3: "long phrase"]).exit, equals: 0)
    let vault = tool.home.path + "/.local/share/vaultctl/default.vault"
    let key = try #require(try tool("status", "--json").json["deviceKey"] as? String)
    let id = try #require(key.split(separator: "/").last?.split(separator: ".").first)
    let beside = vault + (isNamedKey ? ".restoring" : ".restoring-" + id)
    if form == "copy" {
      try FileManager.default.copyItem(atPath: vault, toPath: beside)
    } else {
      try FileManager.default.createSymbolicLink(atPath: beside, withDestinationPath: vault)
    }
    let doctor = try tool("vault", "doctor").text
    #expect(!doctor.contains("interrupted"))
    for passphrase in ["wrong", "long phrase"] {
      let refused = try tool(
        "restore", backup, "--replace", "--passphrase-fd", "3", secrets: [3: passphrase])
      #expect(refused.exit == 8 && refused.errors.contains(".restoring"), "\(refused.errors)")
      #expect(FileManager.default.fileExists(atPath: beside))
      try expect(tool("get", "mail").output, equals: [1, 2, 3])
    }
  }
}
