import AuthenticatorKit
import Foundation
import OneTimePassword
import SecretMemory
import TestSupport
import Testing
import VaultKit
import VaultTestKit

@Suite("PINs and the reader in Python", .bounded)
struct PINReaderTests {
  /// Verified to fail when the key of a credential behind a checked PIN has form 0.
  @Test(
    "the reader opens the secrets behind PINs of both modes, also after changes", arguments: [false, true])
  func secrets(isChanged: Bool) throws {
    let rig = try PINRig()
    let (checked, camouflaged) = (try rig.checked(), try rig.camouflaged())
    _ = try rig.credential(behind: checked, named: "checked")
    _ = try rig.masked(behind: camouflaged, named: "camouflaged")
    if isChanged {
      for pin in [checked, camouflaged] {
        try rig.core.changePIN(pin, context: rig.context("8306", new: "52074"))
      }
    }
    let right = try read(rig.place, pin: isChanged ? "52074" : "8306")
    expect(right["checked"], equals: Array("12345678901234567890".utf8))
    expect(right["camouflaged"], equals: PINRig.rawKey)
    let wrong = try read(rig.place, pin: "1357")
    #expect(wrong["checked"] == nil)
    #expect(wrong["camouflaged"] != nil)
    #expect(wrong["camouflaged"] != PINRig.rawKey)
  }

  /// Verified to fail when the mask is bound to the PIN item instead of the credential.
  @Test("the codes of vaults that were written from the specification alone, behind PINs of both modes")
  func written() throws {
    let place = TemporaryVault(environment: .testing())
    try FileManager.default.createDirectory(atPath: place.folder + "/data", withIntermediateDirectories: true)
    let made = try Program("/usr/bin/python3", ["-B", root.path + "/Tests/Reader/make_vault.py", place.path])
      .run(errors: .apart)
    expect(made.status, equals: 0, "\(made.errors)")
    let core = try VaultCore.open(
      at: place.path, protector: FileProtector(file: place.path + ".key"), environment: place.environment)
    for name in ["behind pin", "camouflaged"] {
      let id = try core.item(named: name).id
      let context = AuthenticationContext(reason: "")
      context.provide(try PIN(SecretBytes(testing: "2580")))
      try expect(core.nextHOTPCode(of: id, context: context).code, equals: PINRig.rfc4226[0])
    }
  }

  private var root: URL {
    URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
  }

  /// The secrets that the reader finds, by name.
  private func read(_ place: TemporaryVault, pin: String) throws -> [String: [UInt8]] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: place.folder + "/state")
    let key = try #require(names.first { $0.hasSuffix(".key") })
    let file = place.folder + "/pin"
    try Data(pin.utf8).write(to: URL(filePath: file))
    let command =
      "exec /usr/bin/python3 -B '\(root.path)/docs/format/open_vault.py' '\(place.path)' --json"
      + " --device-key '\(place.folder)/state/\(key)' --pin-fd 3 3<'\(file)'"
    let run = try Program("/bin/sh", ["-c", command]).run(errors: .apart)
    expect(run.status, equals: 0, "\(run.errors)")
    let found = try #require(try JSONSerialization.jsonObject(with: run.output) as? [String: Any])
    var secrets: [String: [UInt8]] = [:]
    for item in try #require(found["items"] as? [[String: Any]]) {
      guard let name = item["name"] as? String, let text = item["secretBase64"] as? String else { continue }
      secrets[name] = Data(base64Encoded: text).map { Array($0) }
    }
    return secrets
  }
}
