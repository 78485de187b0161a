import AuthenticatorKit
import Foundation
import Glibc
import TestSupport
import Testing
import VaultKit
import VaultTestKit

/// A vault with an activated credential behind a camouflaged PIN, which has no attempts that killed processes could use up,
/// and a server that offers the transaction of the file `alias` and notes each answer.
private struct TransactionVault {
  let vault = TemporaryVault(in: Place.fast)
  let tool: Tool
  private var server: String { vault.folder + "/server" }
  private var pin: String { vault.folder + "/pin" }

  init() throws {
    _ = try vault.makeCore()
    tool = try Tool(vault)
    try write("draft", Self.script)
    try write("pin", "8306")
    let install = Program("/usr/bin/install", ["-m", "700", vault.folder + "/draft", server])
    try #require(try install.run(errors: .inherited).status == 0)
    let guarding = ["--pin-mode", "camouflaged", "--pin-file", pin]
    for words in [["start", "bank"], ["finish", "bank"] + guarding] {
      _ = try tool.run(["otp", "activate"] + words + ["--transport", server, "--code-file", pin])
    }
  }

  private static let script = """
    #!/bin/sh
    read -r request
    cd "$HOME" && read -r alias < alias
    id=${request#*'"id":"'}
    case $request in
    *'"activationStart"'*) more=',"peer":"c-17","pinMode":1,"secretBase64":"MDEyMzQ1Njc4OWFiY2RlZg=="' ;;
    *'"activationFinish"'*)
      more=',"credential":{"type":"hotp","secretBase64":"5+7nYV7zXzDkm0guFcrnUAcgHhI="}' ;;
    *'"transactionNext"'*) more=',"transaction":{"alias":"'$alias'","lifeSeconds":2592000,"context":"Pay"}' ;;
    *'"transactionAnswer"'*) echo "$request" >> answers ;;
    esac
    printf '{"version":1,"id":"%.32s"%s}\\n' "$id" "$more"

    """

  private func write(_ name: String, _ text: String) throws {
    let path = vault.folder + "/" + name
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
  }

  /// A transaction that waits in the vault.
  func receive(_ number: Int) throws -> String {
    try write("alias", "t-\(number)\n")
    _ = try tool.run(["transaction", "list", "--transport", server])
    return "t-\(number)"
  }

  func acceptance(of alias: String) -> [String] {
    ["transaction", "accept", alias, "--transport", server, "--pin-file", pin]
  }

  func accept(_ alias: String) throws -> Running { try tool.start(acceptance(of: alias)) }

  /// Whether the server has what became of a transaction.
  func isTold(_ alias: String) throws -> Bool {
    try vault.openCore().transactions().first { $0.alias == alias }?.delivery == .told
  }

  /// The transactions whose acceptances were told with two counters, and those that were not told.
  func wronglyTold(of number: Int) throws -> [String] {
    let told = Dictionary(grouping: try answers(), by: \.alias)
    return (1...number).map { "t-\($0)" }.filter { Set((told[$0] ?? []).map(\.counter)).count != 1 }
  }

  /// What became of a transaction, and the next counter.
  func state(of alias: String) throws -> (TransactionState?, UInt64) {
    let core = try vault.openCore()
    let status = try core.transactions().first { $0.alias == alias }?.status
    return (status, try core.state(of: core.item(named: "bank").id).counter)
  }

  /// The transactions and counters that the server was told, in this order.
  func answers() throws -> [(alias: String, counter: UInt64)] {
    let text = (try? String(contentsOfFile: vault.folder + "/answers", encoding: .utf8)) ?? ""
    return try text.split(separator: "\n").map { line in
      let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      return (
        try #require(object["alias"] as? String), try #require((object["counter"] as? NSNumber)?.uint64Value)
      )
    }
  }
}

extension Torture {
  /// Verified to fail when the transaction is accepted in a commit of its own after that of the counter, and when this is
  /// after the server was told.
  @Suite("Accepted transactions under kill", .bounded, .requirement("B6"), .serialized)
  struct TransactionKills {
    @Test("a killed one is accepted with its counter or waits on, and the server learns what is on disk")
    func killed() throws {
      let rig = try TransactionVault()
      let commands = try KilledCommands(
        environment: rig.tool.environment, random: SeededRandom(seed: Scale.seed))
      try commands.learn("accept", rig.acceptance(of: rig.receive(1)))
      var (number, accepted) = (1, 0)
      while commands.hits < Scale.pick(25, long: 500) {
        number += 1
        let alias = try rig.receive(number)
        _ = try commands.run("accept", rig.acceptance(of: alias))
        let (status, counter) = try rig.state(of: alias)
        let wasTold = try rig.answers().contains { $0.alias == alias }
        #expect(status == .accepted || status == .pending && !wasTold, "\(alias)")
        expect(counter, equals: UInt64(number - (status == .accepted ? 0 : 1)), "\(alias)")
        accepted += status == .accepted ? 1 : 0
        // Another time it is refused if the server has it; else it is told, or accepted now.
        let isOver = try rig.isTold(alias)
        #expect(try rig.accept(alias).wait() == (isOver ? 9 : 0))
        #expect(try rig.state(of: alias) == (.accepted, UInt64(number)))
      }
      let told = try rig.answers()
      expect(Set(told.map(\.counter)).count, equals: number)
      try expect(rig.wronglyTold(of: number), equals: [])
      try expect(rig.vault.openCore().verify().problems, equals: [])
      report(
        "B6: \(commands.summary), \(accepted) accepted before, \(told.count) told, seed \(Scale.seed)")
    }

    /// The other finds it accepted: it is refused, or tells the same decision again.
    @Test("two processes that accept one transaction use one counter")
    func race() throws {
      let rig = try TransactionVault()
      for number in 1...Scale.pick(5, long: 500) {
        let alias = try rig.receive(number)
        let both = try [rig.accept(alias), rig.accept(alias)]
        let exits = both.map { $0.wait() }
        #expect(exits.contains(0) && exits.allSatisfy { $0 == 0 || $0 == 9 }, "\(exits)")
        #expect(try rig.state(of: alias) == (.accepted, UInt64(number)))
        try expect(rig.wronglyTold(of: number), equals: [])
      }
    }
  }
}
