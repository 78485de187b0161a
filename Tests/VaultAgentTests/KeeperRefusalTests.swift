import AgentMessages
import Foundation
import TestSupport
import Testing
import VaultAgent
import VaultCommands
import VaultTestKit

/// What a keeper believes of a request. `Tests/Hostile` tries the same on a real one, under a user id of its own.
@Suite("What a keeper refuses", .bounded, .requirement("G7"))
struct KeeperRefusalTests {
  /// Verified to fail when the keeper looks at the vault that the command names.
  @Test("another vault, another device key and a vault that the command has found are refused")
  func otherVault() throws {
    let rig = try AgentRig(isKeeper: true)
    let own = rig.service.world.keeper.vault
    let identity = try #require(try rig.request(["ls"]).vault?.identity)
    let requests =
      [
        AgentRun.Vault(path: rig.place.path, identity: nil),
        AgentRun.Vault(path: rig.place.path, identity: identity),
        AgentRun.Vault(path: own, identity: identity),
        AgentRun.Vault(path: own + "/../other.vault", identity: nil),
      ].map { (vault: Optional($0), key: String?.none) } + [
        (vault: nil, key: nil), (vault: AgentRun.Vault(path: own, identity: nil), key: "/tmp/my.key"),
      ]
    for request in requests {
      let client = try Client(rig.connect())
      let run = AgentRun(
        version: rig.service.world.agentVersion, words: ["ls"], vault: request.vault,
        deviceKey: request.key)
      try client.send(run, input: nil)
      try expect(AgentRefusal(rig.packet(for: client)).reason, equals: .otherKey, "\(request)")
    }
  }

  @Test("where there is no vault yet it says who makes one; its state is told all the same")
  func noVault() throws {
    let rig = try AgentRig(isKeeper: true)
    let client = try Client(rig.connect())
    try client.send(rig.keeperRequest("ls"), input: nil)
    let refusal = try AgentRefusal(rig.packet(for: client))
    #expect(refusal.reason == .vaultChanged && refusal.text.contains("sudo vault-keeper run"))
    let status = try Client(rig.connect())
    try status.send(rig.keeperRequest("keeper", "status"), input: nil)
    let end = try rig.end(status)
    #expect(end.ending == .exit(0) && end.text.hasPrefix("running "), "\(end)")
  }

  /// Verified to fail when the keeper looks only in the present directory: it then tells to make a second vault, and takes one.
  @Test(
    "where its vault is still in a directory of the former name, it says how that is moved, and takes no other"
  )
  func formerDirectory() throws {
    let rig = try AgentRig(isKeeper: true)
    let place = rig.service.world.keeper
    let former = place.state + "/.local/share/vault"
    try FileManager.default.createDirectory(atPath: former, withIntermediateDirectories: true)
    try Data().write(to: URL(fileURLWithPath: former + "/default.vault"))
    let client = try Client(rig.connect())
    try client.send(rig.keeperRequest("ls"), input: nil)
    let refusal = try AgentRefusal(rig.packet(for: client))
    #expect(
      refusal.reason == .vaultChanged && refusal.text.contains("mv \(former) \(place.vaults)"), "\(refusal)")
    let adopt = try Client(rig.connect())
    try adopt.send(rig.keeperRequest("keeper", "adopt"), input: nil)
    try expect(rig.end(adopt).ending, equals: .exit(14))
  }

  /// With a vault, without which it would run no command.
  @Test("no command stops it, of whatever version")
  func stop() throws {
    let rig = try AgentRig(isKeeper: true)
    let vault = URL(fileURLWithPath: rig.service.world.keeper.vault)
    try FileManager.default.createDirectory(
      at: vault.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data().write(to: vault)
    for version in ["0.0.1", rig.service.world.agentVersion] {
      let client = try Client(rig.connect())
      var run = try rig.keeperRequest("agent", "stop")
      run.version = version
      try client.send(run, input: nil)
      if version == "0.0.1" {
        try expect(AgentRefusal(rig.packet(for: client)).reason, equals: .version)
      } else {
        try expect(rig.end(client).ending, equals: .exit(13))
      }
      rig.loop.turn(waits: false)
      #expect(!rig.loop.isDone)
    }
    #expect(try rig.takesConnections)
  }
}
