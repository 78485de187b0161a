import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("The client of a token set", .bounded)
struct StoringTokensTests {
  /// The device key alone can change attributes. Verified to fail when a set does not name its registration.
  @Test(
    "tokens that an attribute gives to another client are damage, and are sent nowhere", .requirement("D4"))
  func swapped() throws {
    let scene = try OAuthScene()
    let (good, evil) = (
      try scene.register().id, try scene.register(OAuthScene.new("evil", template: "t2")).id
    )
    for client in [good, evil] { _ = try scene.authorize(client) }
    let request = try scene.core.beginAuthorization(for: evil)
    try scene.swapTokens(good, evil)
    let (core, server) = (scene.core, scene.server)
    let count = server.requests.count
    expect(.damaged) { () throws(VaultError) in _ = try core.refreshTokens(of: evil, over: server) }
    expect(.damaged) { () throws(VaultError) in try core.revokeTokens(of: evil, over: server) }
    expect(.damaged) { () throws(VaultError) in _ = try core.requestTokens(for: evil, over: server) }
    expect(.damaged) { () throws(VaultError) in
      _ = try core.finishAuthorization(request, with: OAuthScene.answer(to: request), over: server)
    }
    expect(.damaged) { () throws(VaultError) in _ = try scene.headers(evil) }
    expect(.damaged) { () throws(VaultError) in _ = try core.idToken(of: evil) }
    expect(.damaged) { () throws(VaultError) in _ = try core.tokenSet(of: evil) }
    expect(server.requests.count, equals: count)
    // Put back, all is as it was; without the set, the client gets tokens again.
    try scene.swapTokens(good, evil)
    try expect(scene.headers(good).authorization, equals: "Bearer " + OAuthServer.access(3))
    try scene.swapTokens(good, evil)
    try scene.core.writing { transaction throws(VaultError) in
      for set in try transaction.items(matching: Query(.tokenSet)) { try transaction.delete(set.id) }
    }
    _ = try core.requestTokens(for: evil, over: server)
  }

  @Test("a set of an earlier build, which names no registration, opens and is refreshed", .requirement("D4"))
  func withoutRegistration() throws {
    let scene = try OAuthScene()
    let (client, other) = (
      try scene.register().id, try scene.register(OAuthScene.new("o", template: "t2")).id
    )
    for client in [client, other] { _ = try scene.authorize(client) }
    var record = Record()
    (record[1], record[2]) = ([0, 0, 0, 0, 0, 0, 0, 1], [1])
    (record[3], record[4]) = (Array("old-access".utf8), Array(OAuthServer.refresh(4).utf8))
    let set = try #require(try scene.core.tokenSet(of: client)).id
    try scene.core.writing { transaction throws(VaultError) in
      let data = SecretBytes(copying: record.encoded)
      _ = try transaction.update(set, ItemChanges(), secret: data, by: .tokenSet)
    }
    try expect(scene.headers(client).authorization, equals: "Bearer old-access")
    try expect(scene.core.refreshTokens(of: client, over: scene.server).id, equals: set)
    // From then on, the set has its registration.
    try scene.swapTokens(client, other)
    expect(.damaged) { () throws(VaultError) in _ = try scene.headers(other) }
  }
}

extension OAuthScene {
  /// Gives each of two clients the tokens of the other one, by attributes alone.
  fileprivate func swapTokens(_ one: ItemID, _ other: ItemID) throws {
    try core.writing { transaction throws(VaultError) in
      let sets = try transaction.items(matching: Query(.tokenSet))
      let unused = String(repeating: "0", count: 32)
      let moves = [
        (one.hexadecimal, unused), (other.hexadecimal, one.hexadecimal), (unused, other.hexadecimal),
      ]
      var owners = sets.map { $0.attributes[.account] ?? "" }
      for (from, to) in moves {
        guard let index = owners.firstIndex(of: from) else { continue }
        var changes = ItemChanges()
        changes.attributes[.account] = to
        _ = try transaction.update(sets[index].id, changes, secret: nil, by: .tokenSet)
        owners[index] = to
      }
    }
  }
}
