import Foundation
import Glibc
import SecretMemory
import TestSupport
import Testing
import VaultKit
import VaultTestKit

extension Torture {
  /// R5 for biometry. Verified to fail when the failure is counted after the derivation instead of before it.
  @Suite("Tries of a phrase", .bounded, .requirement("R5"), .serialized)
  struct PhraseTries {
    private static func secret() throws -> TriedSecret {
      let vault = TemporaryVault(in: Place.fast)
      let core = try vault.makeCore(passcode: "pass")
      _ = try core.enroll(
        BiometricPhrase(testing: "right"), named: "voice", passcode: Passcode(testing: "pass"))
      _ = try core.add(
        NewItem(
          .genericPassword, name: "any", access: AccessControl(.biometryAny, accessibility: .afterFirstUnlock)
        ),
        secret: SecretBytes(testing: "s"))
      return TriedSecret(
        vault: vault, right: "right", wrong: "wrong", limit: 5, refusal: "refused biometryLocked",
        arguments: { ["phrase", vault.folder, "any", $0, TriedSecret.tally(of: vault)] })
    }

    private let secret: TriedSecret

    init() throws { secret = try Self.secret() }

    @Test("fifty processes with wrong phrases get five key derivations together; the passcode ends the lock")
    func parallel() throws {
      let answers = try secret.race(50, "wrong")
      expect(answers.count, equals: 50)
      expect(answers.count { $0 == "refused authenticationFailed" }, equals: 5, "\(Set(answers))")
      expect(answers.count { $0 == "refused biometryLocked" }, equals: 45)
      expect(secret.derivations, equals: 5)
      try expectUnlockedByPasscode()
    }

    @Test("a try that is killed in its derivation counts as much as one that failed")
    func killedInDerivation() throws {
      try secret.expectKilledInDerivation()
      try expectUnlockedByPasscode()
    }

    @Test("a killed try counts as much as one that failed", arguments: KillMoment.allCases)
    func killed(_ moment: KillMoment) throws {
      try TriedSecret.expectKilled(moment, rounds: Scale.pick(3, long: 200), Self.secret)
    }

    /// The lock is there, and the passcode ends it.
    private func expectUnlockedByPasscode() throws {
      try expect(secret.one("right"), equals: ["refused biometryLocked"])
      try secret.vault.openCore().unlock(with: Passcode(testing: "pass"))
      try expect(secret.one("right"), equals: ["opened"])
    }
  }

  /// R14. Verified to fail when a removal leaves the set and its slots unchanged, and when a new set has its old
  /// number.
  @Suite("The enrolled set under kill", .bounded, .requirement("R14"), .serialized)
  struct MemberKills {
    private struct Item {
      let id: ItemID
      /// The set it was stored for; `nil` for any.
      let generation: Int?
    }

    /// The enrolled set and the items, as the killed processes acknowledged them.
    private struct Told {
      var members: [String] = []
      var generation = 0
      var items: [Item] = []
      /// Changes that were done and not acknowledged.
      var cut = 0
    }

    @Test("an item opens if and only if its set is unchanged, whatever was killed")
    func killed() throws {
      let kills = Scale.pick(60, long: 1_000)
      let random = SeededRandom(seed: Scale.seed)
      let (vault, other) = (try Self.vault(), try Self.vault())
      let commands = try KilledCommands("vault-torture", random: random)
      try commands.learn("members", ["members", other.folder, "pass", "0"], upTo: 16)
      var told = Told()
      var number = 0
      // And until there were enough sets and items to judge.
      while number < kills || told.generation <= kills / 4 || told.items.count <= kills / 4 {
        number += 1
        let run = try commands.run("members", ["members", vault.folder, "pass", "\(number)"])
        expect(run.status, equals: -SIGKILL, "\(run.lines.suffix(2))")
        let open = follow(run.lines, &told)
        let core = try vault.openCore()
        try compare(core, with: &told, open)
        try check(told.items, told.members, told.generation, core, random)
      }
      let core = try vault.openCore()
      try core.unlock(with: Passcode(testing: "pass"))
      try expect(core.verify().problems, equals: [])
      report(
        "R14: \(number) kills, \(told.generation) sets, \(told.items.count) items, "
          + "\(told.cut) changes done and not acknowledged, seed \(Scale.seed)")
    }

    private static func vault() throws -> TemporaryVault {
      let vault = TemporaryVault(in: Place.fast)
      _ = try vault.makeCore(passcode: "pass")
      return vault
    }

    /// - Returns: The last line, when it begins a change that no later line acknowledges.
    private func follow(_ lines: [String], _ told: inout Told) -> String? {
      var open: String?
      for line in lines {
        let words = line.split(separator: " ").map(String.init)
        #expect(words[0] != "ERROR", "\(line)")
        if words[1] == "item" {
          let generation = words[4] == "set" ? told.generation : nil
          told.items.append(Item(id: ItemID(hexadecimal: words[2])!, generation: generation))
        } else if words[0] == ">" {
          open = line
        } else {
          open = nil
          told.generation += 1
          if words[1] == "enroll" {
            told.members.append(words[2])
          } else {
            told.members.removeAll { $0 == words[2] }
          }
        }
      }
      return open
    }

    /// What was begun and not acknowledged was done, whole, or not at all.
    private func compare(_ core: VaultCore, with told: inout Told, _ open: String?) throws {
      let found = try core.enrolledMembers().map(\.name)
      guard found != told.members else { return }
      let words = try #require(open, "the set changed by itself: \(found)").split(separator: " ").map(
        String.init)
      let expected =
        words[1] == "enroll" ? told.members + [words[2]] : told.members.filter { $0 != words[2] }
      expect(found, equals: expected)
      told.members = found
      told.generation += 1
      told.cut += 1
    }

    private func check(
      _ items: [Item], _ members: [String], _ generation: Int, _ core: VaultCore, _ random: SeededRandom
    ) throws {
      for item in items.suffix(4) + items.prefix(2) {
        guard let member = members.isEmpty ? nil : members[random.below(members.count)] else { return }
        let context = AuthenticationContext(reason: "", interaction: .notAllowed)
        context.provide(try BiometricPhrase(testing: member))
        let isOpen: Bool
        do throws(VaultError) {
          _ = try core.secret(of: item.id, context: context)
          isOpen = true
        } catch {
          expect(error.code, equals: .invalidated, "\(error)")
          isOpen = false
        }
        #expect(isOpen == (item.generation == nil || item.generation == generation))
      }
    }
  }
}
