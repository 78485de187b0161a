import Foundation
import Glibc
import TestSupport
import Testing
import VaultKit
import VaultTestKit

extension Torture {
  /// R21. `busy` is an answer, and counted: whoever got it was told that nothing was done. Any other error is a failure.
  ///
  /// Verified to fail when `Session.headForWriting` does not compare `config`. The long form has found, in every fifth
  /// run, that slots from before a change of the passcode were opened with keys from after it, and called damaged.
  @Suite(
    "Items against changes of passcode, keys and enrolled set", .bounded, .requirement("R21"), .serialized)
  struct PasscodeRaces {
    @Test("every acknowledged item opens, or was listed as destroyed")
    func race() async throws {
      let changes = Scale.pick(200, long: 1_000)
      let seed = Scale.seed
      let vault = TemporaryVault(in: Place.fast)
      _ = try vault.makeCore()
      let gate = try Gate()
      let changer = try torture("keys", vault.folder, "pass", "\(changes)", "\(seed)")
      let adders = try (1...4).map { try torture("add", vault.folder, "pass", "\($0)", gate: gate) }
      let all = [changer] + adders
      // All are listened to while they run: a process that nobody listens to stands still when its pipe is full.
      let said = try await lanes(all.count) { index in
        let lines = all[index].lines()
        if index == 0 { gate.open() }
        return lines
      }
      for (process, lines) in zip(all, said) {
        #expect(process.wait() == 0 && lines.last == "end", "\(lines.suffix(2))")
      }
      let keys = KeyChangeReport(said[0])
      var items: [AddedItem] = []
      for lines in said.dropFirst() { items += AddedItem.all(in: lines) }
      let busy = said.joined().filter { $0.hasPrefix("busy ") }
      report(
        "R21: \(items.count) items added, \(items.count { $0.isDeleted }) of them opened and deleted, during \(changes) "
          + "changes of passcode, keys and set: \(keys.counts), \(keys.destroyed.count) destroyed, "
          + "\(keys.behind.count) behind a set that is gone, \(busy.count) times busy \(Set(busy).sorted()), seed \(seed)"
      )
      #expect(items.count > changes / 2 && !keys.destroyed.isEmpty && !keys.behind.isEmpty)
      try check(items, keys, vault)
    }

    private func check(_ items: [AddedItem], _ keys: KeyChangeReport, _ vault: TemporaryVault) throws {
      let core = try vault.openCore()
      if core.hasPasscode { try core.unlock(with: Passcode(testing: "pass")) }
      try expect(core.verify().problems, equals: [])
      var (lost, opened) = ([String](), 0)
      for item in items where !item.isDeleted {
        let secret = try secret(of: item, core)
        if secret == Array("secret of \(item.name)".utf8), !item.isGone {
          opened += 1
        } else {
          if secret != nil { lost.append("\(item.name) was gone and is there again, or is another") }
          if !keys.mayBeGone(item) { lost.append("\(item.name), \(item.kind)") }
        }
      }
      expect(lost, equals: [])
      #expect(opened > 0, "nothing is left to open")
    }

    /// `nil` where the vault says that there is no such item.
    private func secret(of item: AddedItem, _ core: VaultCore) throws -> [UInt8]? {
      let context = AuthenticationContext(reason: "", interaction: .notAllowed)
      if item.kind == "plain" {
        context.provide(try Passcode(testing: "pass"))
      } else {
        context.provide(try BiometricPhrase(testing: "left"))
      }
      do throws(VaultError) {
        return try core.secret(of: item.id, context: context).bytesForTesting
      } catch {
        if error.code.isAbsence { return nil }
        return Array("\(error.code.rawValue) \(error.message)".utf8)
      }
    }
  }

  /// What an adder was acknowledged.
  private struct AddedItem {
    let id: ItemID
    let name: String
    /// "plain", "any" or "set".
    let kind: String
    /// From before the call until its return, on the clock of all processes.
    let adding: ClosedRange<UInt64>
    /// It opened, and was deleted on purpose.
    var isDeleted = false
    /// It was not found once.
    var isGone = false

    static func all(in lines: [String]) -> [AddedItem] {
      var items: [String: AddedItem] = [:]
      for line in lines {
        let words = line.split(separator: " ").map(String.init)
        switch words[0] {
        case "<":
          items[words[1]] = AddedItem(
            id: ItemID(hexadecimal: words[1])!, name: words[2], kind: words[3],
            adding: UInt64(words[4])!...UInt64(words[5])!)
        case "=": items[words[1]]!.isDeleted = true
        case "?": items[words[1]]!.isGone = true
        default: break
        }
      }
      return items.values.sorted { $0.adding.lowerBound < $1.adding.lowerBound }
    }
  }

  /// What the process that changes the keys said.
  private struct KeyChangeReport {
    /// Listed by a removal of the passcode, in its transaction.
    var destroyed: Set<String> = []
    /// Listed before a change of the enrolled set.
    var behind: Set<String> = []
    private var changesOfSet: [ClosedRange<UInt64>] = []
    private var words: [String: Int] = [:]

    init(_ lines: [String]) {
      for line in lines {
        let words = line.split(separator: " ").map(String.init)
        switch words[0] {
        case "destroyed": destroyed.insert(words[1])
        case "behind": behind.insert(words[1])
        case "changed-set":
          changesOfSet.append(UInt64(words[1])!...UInt64(words[2])!)
          self.words["changed-set", default: 0] += 1
        case "busy", "end": break
        default: self.words[line, default: 0] += 1
        }
      }
    }

    var counts: String {
      words.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }

    /// Listed; or stored for the set between the list and the change.
    func mayBeGone(_ item: AddedItem) -> Bool {
      let id = item.id.hexadecimal
      if destroyed.contains(id) { return true }
      return item.kind == "set" && (behind.contains(id) || changesOfSet.contains { $0.overlaps(item.adding) })
    }
  }

  /// R5 for the passcode. Verified to fail when `Lockout.begin` does not count attempts in progress, and when the first
  /// delay comes after six failures instead of five.
  @Suite("Tries of the passcode", .bounded, .requirement("R5"), .serialized)
  struct PasscodeTries {
    private let vault: TemporaryVault
    private var tally: String { vault.folder + "/tally" }

    init() throws {
      vault = TemporaryVault(in: Place.fast)
      _ = try vault.makeCore(passcode: "right")
    }

    @Test("fifty processes with wrong passcodes get five key derivations together")
    func parallel() throws {
      let answers = try race(50, "wrong", [])
      expect(answers.count, equals: 50)
      #expect(
        Set(answers).isSubset(of: ["refused authenticationFailed", "refused passcodeDelay"]),
        "\(Set(answers))")
      expect(derivations, equals: 5)
    }

    @Test("each delay is kept to the millisecond, and lets one derivation through when it is over")
    func delays() throws {
      // Minutes after failure 5, 6, 7 …
      let minutes: [UInt64] = [1, 5, 15, 30, 90, 240, 720, 2160, 2160]
      var now: UInt64 = 1_000_000
      for _ in 0..<5 { _ = try race(1, "wrong", ["\(now)"]) }
      expect(derivations, equals: 5)
      for (index, delay) in minutes.prefix(Scale.pick(4, long: 9)).enumerated() {
        now += delay * 60_000 - 1
        expect(Set(try race(10, "right", ["\(now)"])), equals: ["refused passcodeDelay"])
        expect(derivations, equals: 5 + index, "a derivation before the delay was over")
        now += 1
        let answers = try race(20, "wrong", ["\(now)"])
        expect(answers.filter { $0 == "refused authenticationFailed" }.count, equals: 1)
        expect(derivations, equals: 6 + index)
      }
    }

    @Test("a killed try counts as much as one that failed")
    func killed() throws {
      let random = SeededRandom(seed: Scale.seed)
      for _ in 0..<Scale.pick(40, long: 1_000) {
        let process = try torture("unlock", vault.folder, "wrong", tally, "clock", "slow")
        usleep(UInt32(random.below(30_000)))
        process.kill()
        process.wait()
        #expect(derivations <= 5)
      }
      // Whatever was killed, the tries that are left are few, and the delay comes.
      for _ in 0..<5 { _ = try torture("unlock", vault.folder, "wrong", tally).lines() }
      #expect(derivations <= 5)
      try expect(torture("unlock", vault.folder, "right", tally).lines(), equals: ["refused passcodeDelay"])
    }

    @Test("fifty processes with the right passcode are all let in")
    func right() throws {
      for _ in 0..<Scale.pick(2, long: 20) {
        try expect(race(50, "right", []).filter { $0 != "unlocked" }, equals: [])
      }
      expect(derivations, equals: Scale.pick(2, long: 20) * 50)
    }

    private func race(_ count: Int, _ passcode: String, _ more: [String]) throws -> [String] {
      let gate = try Gate()
      let all = try (0..<count).map { _ in
        try Running(
          Built.path("vault-torture"), ["unlock", vault.folder, passcode, tally] + more, gate: gate)
      }
      gate.open()
      return all.flatMap { $0.lines() }
    }

    private var derivations: Int {
      (try? FileManager.default.attributesOfItem(atPath: tally)[.size] as? Int) ?? 0
    }
  }
}
