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
    private let vault: TemporaryVault
    private var tally: String { vault.folder + "/tally" }

    init() throws {
      vault = TemporaryVault(in: Place.fast)
      let core = try vault.makeCore(passcode: "pass")
      _ = try core.enroll(
        BiometricPhrase(testing: "right"), named: "voice", passcode: Passcode(testing: "pass"))
      _ = try core.add(
        NewItem(
          .genericPassword, name: "any", access: AccessControl(.biometryAny, accessibility: .afterFirstUnlock)
        ),
        secret: SecretBytes(testing: "s"))
    }

    @Test("fifty processes with wrong phrases get five key derivations together; the passcode ends the lock")
    func parallel() throws {
      let gate = try Gate()
      let all = try (0..<50).map { _ in
        try Running(Built.path("vault-torture"), ["phrase", vault.folder, "any", "wrong", tally], gate: gate)
      }
      gate.open()
      let answers = all.flatMap { $0.lines() }
      expect(answers.count, equals: 50)
      expect(answers.count { $0 == "refused authenticationFailed" }, equals: 5, "\(Set(answers))")
      expect(answers.count { $0 == "refused biometryLocked" }, equals: 45)
      expect(derivations, equals: 5)
      try expect(one("right"), equals: ["refused biometryLocked"])
      try vault.openCore().unlock(with: Passcode(testing: "pass"))
      try expect(one("right"), equals: ["opened"])
    }

    @Test("a killed try counts as much as one that failed")
    func killed() throws {
      let random = SeededRandom(seed: Scale.seed)
      let kills = Scale.pick(30, long: 1_000)
      var (derived, locks) = (0, 0)
      for kill in 1...kills {
        let process = try torture("phrase", vault.folder, "any", "wrong", tally, "slow")
        usleep(UInt32(random.below(30_000)))
        process.kill()
        process.wait()
        #expect(derivations - derived <= 5)
        guard kill % 25 == 0 else { continue }
        // The lock is there by now, or five more tries make it; the passcode ends it, and five more are there.
        for _ in 0..<5 { _ = try one("wrong") }
        #expect(derivations - derived <= 5)
        try expect(one("right"), equals: ["refused biometryLocked"])
        try vault.openCore().unlock(with: Passcode(testing: "pass"))
        derived = derivations
        locks += 1
      }
      #expect(derived <= locks * 5)
      report("R5, phrases: \(kills) kills, \(locks) locks, \(derived) key derivations, seed \(Scale.seed)")
    }

    private func one(_ phrase: String) throws -> [String] {
      try torture("phrase", vault.folder, "any", phrase, tally).lines()
    }

    private var derivations: Int {
      (try? FileManager.default.attributesOfItem(atPath: tally)[.size] as? Int) ?? 0
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
      let vault = TemporaryVault(in: Place.fast)
      _ = try vault.makeCore(passcode: "pass")
      var told = Told()
      for seed in 1...kills {
        let process = try torture("members", vault.folder, "pass", "\(seed)")
        // After so many lines, and a moment: on a busy machine too the kill falls into the work.
        let first = (0..<random.below(12)).compactMap { _ in process.line() }
        usleep(UInt32(random.below(10_000)))
        process.kill()
        let open = follow(first + process.lines(), &told)
        process.wait()
        let core = try vault.openCore()
        try compare(core, with: &told, open)
        try check(told.items, told.members, told.generation, core, random)
      }
      let core = try vault.openCore()
      try core.unlock(with: Passcode(testing: "pass"))
      try expect(core.verify().problems, equals: [])
      report(
        "R14: \(kills) kills, \(told.generation) sets, \(told.items.count) items, "
          + "\(told.cut) changes done and not acknowledged, seed \(Scale.seed)")
      #expect(told.generation > kills / 4 && told.items.count > kills / 4)
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
