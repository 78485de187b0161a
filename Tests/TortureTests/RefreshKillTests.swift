import AuthenticatorKit
import Foundation
import Glibc
import TestSupport
import Testing
import VaultKit
import VaultTestKit

extension Torture {
  /// Verified to fail when a refresh stores the access token in one commit, and the rest in another.
  @Suite("Killed refreshes of OAuth tokens", .bounded, .requirement("D4"), .serialized)
  struct RefreshKills {
    @Test("the tokens are all of one answer, the old one or the new one, and the vault opens")
    func killed() throws {
      let seed = Scale.seed
      let life = try RefreshedLife(seed: seed)
      try life.run(kills: Scale.pick(25, long: 500))
      expect(life.faults, equals: [])
      report("D4: \(life.summary), seed \(seed)")
    }
  }

  /// A client whose tokens are refreshed by commands that are killed at a system call. Each answer of the server has its number in
  /// the access token, the refresh token, the id token, the scope and the time of expiry.
  final class RefreshedLife {
    private let home: ScenarioHome
    private let commands: KilledCommands
    private(set) var faults: [String] = []
    private var refreshed = 0

    private static let refresh = ["oauth", "refresh", "shop", "--transport", "@/in/as"]

    init(seed: UInt64) throws {
      home = try ScenarioHome(.plain, hasNamedKey: false)
      try home.addAuthorizationServer()
      try home.run(["key", "generate", "k1"])
      try home.run([
        "oauth", "register", "shop", "--template", "t1", "--url", "https://as.example", "--redirect-uri",
        "https://shop.example/back", "--transport", "@/in/as",
      ])
      try home.run(
        [
          "oauth", "token", "shop", "--grant", "authorization_code", "--dpop", "k1", "--code-fd", "0",
          "--transport", "@/in/as",
        ], "code-71c9")
      commands = try KilledCommands(environment: home.environment, random: SeededRandom(seed: seed))
      try commands.learn("refresh", home.words(Self.refresh))
    }

    var summary: String { "\(commands.summary), \(refreshed) refreshes stored" }

    func run(kills count: Int) throws {
      var number = 0
      while commands.hits < count, faults.isEmpty {
        number += 1
        let before = try stored()
        let words = home.words(Self.refresh)
        // Every second one is killed: the others show what that left.
        let run = try number % 2 == 0 ? commands.run("refresh", words) : commands.complete(words)
        let status = run.status
        // The transport may still be at work: it holds the lock of the server.
        try home.waitForServer()
        let after = try stored()
        let (given, used) = try (home.server("number") as? Int ?? 0, home.server("seen") as? [Int] ?? [])
        if ![0, -SIGKILL].contains(status) { faults.append("ended with \(status)") }
        // A transport that was at work when its caller was killed can get one answer more.
        if after != before, !(before + 1...given).contains(after) {
          faults.append("from \(before) to \(after) of \(given)")
        }
        if status == 0, after == before { faults.append("was done, and the tokens are those of before") }
        // The refresh token that was sent belongs to the access token that was stored.
        if let last = used.last, last != before, after != before {
          faults.append("sent \(last), had \(before)")
        }
        if after != before { refreshed += 1 }
      }
    }

    /// The number of the answer that the tokens came from. All of their parts must name it.
    private func stored() throws -> Int {
      let core = try home.open()
      faults += try core.verify().problems.map { "\($0)" }
      let client = try core.item(named: "shop").id
      guard let tokens = try core.tokenSet(of: client), let id = try core.idToken(of: client) else {
        faults.append("the tokens are gone")
        return 0
      }
      let headers = try core.authorization(for: client, method: "GET", url: "https://api.example/")
      let access = String(decoding: headers.authorization.bytesForTesting, as: UTF8.self)
      let number = tokens.scope.flatMap { Int($0.dropFirst(2)) } ?? 0
      let isWhole =
        access.hasPrefix("DPoP at-\(number)-") && headers.proof != nil && tokens.canRefresh
        && id.bytesForTesting == Array("i.d.\(number)".utf8)
      if !isWhole { faults.append("the tokens are mixed: \(number), \(access)") }
      return number
    }
  }
}

extension Torture.ScenarioHome {
  /// Makes the transport `in/as` to the server of `Tests/Peers/authorization-server`, whose state is in `in/server-state`.
  func addAuthorizationServer() throws {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let program = tests.appendingPathComponent("Peers/authorization-server").path
    try FileManager.default.createDirectory(
      atPath: folder + "/in/server-state", withIntermediateDirectories: true)
    try write("in/draft", "#!/bin/sh\nexec '\(program)' '\(folder)/in/server-state'\n")
    // Another process makes it: a child that is started meanwhile would hold one of ours open for writing.
    try #require(
      Child("/usr/bin/install", ["-m", "700", folder + "/in/draft", folder + "/in/as"], [:]).start().wait()
        == 0)
  }

  /// A member of the state of that server.
  func server(_ name: String) throws -> Any? {
    let data = try Data(contentsOf: URL(fileURLWithPath: folder + "/in/server-state/state.json"))
    return (try JSONSerialization.jsonObject(with: data) as? [String: Any])?[name]
  }

  /// Waits until no request is at work.
  func waitForServer() throws {
    let run = Child("/usr/bin/flock", [folder + "/in/server-state/lock", "/bin/true"], [:])
    try #require(run.start().wait() == 0)
  }
}

extension Torture {
  /// Verified to fail when the old value is read in another transaction than the one that writes the new one.
  @Suite("Many processes, one value of a storage", .bounded, .requirement("D3"), .serialized)
  struct StorageUpdates {
    @Test("no update is lost")
    func updated() throws {
      let (processes, updates) = (4, Scale.pick(25, long: 1_000))
      let vault = TemporaryVault(in: Place.fast)
      let core = try vault.makeCore()
      let gate = try Gate()
      let all = try (0..<processes).map { _ in
        try torture("update", vault.folder, "counter", "\(updates)", gate: gate)
      }
      for process in all { expect(process.line(), equals: "ready") }
      gate.open()
      for process in all {
        expect(process.line(), equals: "done")
        expect(process.wait(), equals: 0)
      }
      var attributes = Attributes()
      (attributes[.service], attributes[.account]) = ("torture", "counter")
      let value = try core.storedValue(NewItem(.genericPassword, attributes: attributes))
      expect(value?.bytesForTesting, equals: Array("\(processes * updates)".utf8))
      report("D3: \(processes) processes, \(updates) updates each, none lost")
    }
  }
}
