import AuthenticatorKit
import Foundation
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// One refresh at a time for each set of tokens; the others wait, and take its result.
@Suite("Refreshes at once", .bounded, .requirement("D4"))
struct RefreshTurnTests {
  /// Verified to fail without the lock: the server is then asked twice, and refuses the second one.
  @Test("of two refreshes at once, the second one waits, and has the tokens of the first one")
  func taken() async throws {
    let scene = try OAuthScene()
    let client = try scene.register().id
    _ = try scene.authorize(client)
    let (waits, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let (server, isFirst) = (scene.server, Once())
    server.answer { _ throws(VaultError) in
      // The first answer comes only when the second process waits.
      if isFirst.take() { waits.wait() }
      return nil
    }
    var environment = VaultEnvironment.testing(clock: scene.clock)
    environment.pause = { _ in
      waits.signal()
      ended.wait()
      ended.signal()
    }
    let slow = try VaultCore.open(
      at: scene.place.path, protector: scene.place.protector, environment: environment)
    let first = onThread {
      defer { ended.signal() }
      return try scene.core.refreshTokens(of: client, over: server)
    }
    try waitUntil("the first one asks") { server.refreshCount == 1 }
    let second = onThread {
      defer { waits.signal() }
      return try slow.refreshTokens(of: client, over: server)
    }
    let (one, two) = (try await first.value, try await second.value)
    #expect(one.canRefresh && two.canRefresh)
    expect(server.refreshCount, equals: 1)
    try expect(scene.headers(client, in: slow).authorization, equals: "Bearer " + OAuthServer.access(3))
    // Nothing is left beside the vault.
    #expect(try scene.namesBeside().filter { $0.contains("asking") }.isEmpty)
  }

  /// Would fail when the lock is a file that is there or not.
  @Test("what a killed process left is no lock, and is removed")
  func left() throws {
    let scene = try OAuthScene()
    let client = try scene.register().id
    _ = try scene.authorize(client)
    let path = scene.place.path + ".asking-" + client.hexadecimal
    try #require(
      FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]))
    _ = try scene.core.refreshTokens(of: client, over: scene.server)
    #expect(!FileManager.default.fileExists(atPath: path))
    // A file of somebody else stays, and is named.
    try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
    let error = thrown { () throws(VaultError) in
      _ = try scene.core.refreshTokens(of: client, over: scene.server)
    }
    #expect(error?.code == .fileExists && error?.message.contains(path) == true)
    try expect(String(contentsOfFile: path, encoding: .utf8), equals: "mine")
  }

  /// Would fail when the wait has no end, and when an error says to log in again.
  @Test("who waits for too long is told that others are at work, and can try again")
  func tooLong() throws {
    let scene = try OAuthScene()
    let client = try scene.register().id
    _ = try scene.authorize(client)
    let waited = Atomic(0)
    var environment = VaultEnvironment.testing(clock: scene.clock)
    environment.pause = { waited.add(Int($0 / .milliseconds(1)), ordering: .relaxed) }
    let slow = try VaultCore.open(
      at: scene.place.path, protector: scene.place.protector, environment: environment)
    let server = scene.server
    server.answer { _ throws(VaultError) in
      let error = thrown { () throws(VaultError) in _ = try slow.refreshTokens(of: client, over: server) }
      expect(error?.recovery, equals: .retryable(.after(.zero)))
      return nil
    }
    _ = try scene.core.refreshTokens(of: client, over: server)
    expect(waited.load(ordering: .relaxed), equals: 65_000)
    expect(server.refreshCount, equals: 1)
  }

  @Test("sets of other clients wait for nobody")
  func others() throws {
    let scene = try OAuthScene()
    let (one, two) = (try scene.register().id, try scene.register(OAuthScene.new("o", template: "t2")).id)
    for client in [one, two] { _ = try scene.authorize(client) }
    let (other, server, isFirst) = (try scene.place.openCore(), scene.server, Once())
    let given = OAuthServer.Reply(body: OAuthServer.body(9, type: "Bearer") + "}")
    server.answer { _ throws(VaultError) in
      if isFirst.take() { _ = try other.refreshTokens(of: two, over: server) }
      return given
    }
    _ = try scene.core.refreshTokens(of: one, over: server)
    expect(server.refreshCount, equals: 2)
  }

  /// Verified to fail when a refresh does not look at the set again in its commit.
  @Test("tokens to which a person agreed during a refresh stay")
  func grantedMeanwhile() throws {
    let scene = try OAuthScene()
    let client = try scene.register().id
    _ = try scene.authorize(client)
    let (other, server, isFirst) = (try scene.place.openCore(), scene.server, Once())
    server.answer { request throws(VaultError) in
      guard isFirst.take() else { return nil }
      let request = try other.beginAuthorization(for: client, scope: "orders")
      _ = try other.finishAuthorization(request, with: OAuthScene.answer(to: request), over: server)
      return OAuthServer.Reply(body: OAuthServer.body(99, type: "Bearer") + "}")
    }
    _ = try scene.core.refreshTokens(of: client, over: server)
    try expect(scene.headers(client).authorization, equals: "Bearer " + OAuthServer.access(3))
  }

  /// Verified to fail when the refusal is thrown as it is.
  @Test(
    "tokens to which a person agreed meanwhile are the result of a refresh that the server refuses for that")
  func agreedMeanwhile() throws {
    let scene = try OAuthScene()
    let client = try scene.register().id
    _ = try scene.authorize(client)
    let (other, server, isFirst) = (try scene.place.openCore(), scene.server, Once())
    server.answer { request throws(VaultError) in
      guard isFirst.take() else { return nil }
      let request = try other.beginAuthorization(for: client, scope: "orders")
      _ = try other.finishAuthorization(request, with: OAuthScene.answer(to: request), over: server)
      return .refusal("invalid_grant")
    }
    _ = try scene.core.refreshTokens(of: client, over: server)
    try expect(scene.headers(client).authorization, equals: "Bearer " + OAuthServer.access(3))
    server.answer { _ throws(VaultError) in .refusal("invalid_grant") }
    expect(.expired) { () throws(VaultError) in _ = try scene.core.refreshTokens(of: client, over: server) }
  }
}

extension OAuthServer {
  /// How often it was asked to refresh tokens.
  fileprivate var refreshCount: Int {
    requests.count { $0.operation == .oauthToken && $0.form["grant_type"] == "refresh_token" }
  }
}

extension OAuthScene {
  /// The files in the directory of the vault.
  fileprivate func namesBeside() throws -> [String] {
    try FileManager.default.contentsOfDirectory(
      atPath: URL(fileURLWithPath: place.path).deletingLastPathComponent().path)
  }
}
