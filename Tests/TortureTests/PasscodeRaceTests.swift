import Foundation
import Glibc
import Synchronization
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
      let race = try KeyRace(changes: changes)
      let changer = try torture("keys", vault.folder, "pass", "\(seed)", gate: race.changer)
      let adders = try (1...4).map { try torture("add", vault.folder, "pass", "\($0)", gate: race.adders) }
      let all = [changer] + adders
      // All are listened to while they run: a process whose pipe is full stands still.
      let said = try await lanes(all.count) { index in
        var lines: [String] = []
        while let line = all[index].line() {
          lines.append(line)
          race.note(line)
        }
        race.noteEnd(isChanger: index == 0)
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
        "R21: \(items.count) items added, \(items.count { $0.isDeleted }) of them opened and deleted, during "
          + "changes of passcode, keys and set: \(keys.counts), \(keys.destroyed.count) destroyed, "
          + "\(keys.behind.count) behind a set that is gone, \(busy.count) times busy \(Set(busy).sorted()), seed \(seed)"
      )
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

  /// Lets the changer go on until so many changes were made, half as many items added, and some destroyed and left behind a set;
  /// and then the adders until an item was added that nothing can destroy.
  private final class KeyRace: Sendable {
    let changer: Gate
    let adders: Gate
    private let least: Int
    private let seen = Mutex(Seen())

    private struct Seen {
      var changes = 0
      var added = 0
      var isDestroyed = false
      var isBehind = false
      /// When the enrolled set was changed, which is the last that the changer does, on the clock of all processes.
      var lastChange: UInt64 = 0
      var isOver = false
    }

    init(changes: Int) throws { (changer, adders, least) = (try Gate(), try Gate(), changes) }

    func note(_ line: String) {
      let words = line.split(separator: " ")
      seen.withLock { seen in
        switch words[0] {
        case "<":
          seen.added += 1
          if seen.isOver, words[3] == "plain", UInt64(words[4])! > seen.lastChange { adders.open() }
        case "destroyed": seen.isDestroyed = true
        case "behind": seen.isBehind = true
        case "changed-set":
          seen.changes += 1
          seen.lastChange = UInt64(words[2])!
        case "rotated", "set", "changed", "removed": seen.changes += 1
        default: break
        }
        if seen.changes >= least, seen.added > least / 2, seen.isDestroyed, seen.isBehind { changer.open() }
      }
    }

    func noteEnd(isChanger: Bool) {
      if isChanger {
        seen.withLock { $0.isOver = true }
      } else {
        // It may have failed, and must not keep the others waiting.
        changer.open()
        adders.open()
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
    private static func secret() throws -> TriedSecret {
      let vault = TemporaryVault(in: Place.fast)
      _ = try vault.makeCore(passcode: "right")
      return TriedSecret(
        vault: vault, right: "right", wrong: "wrong", limit: 5, refusal: "refused passcodeDelay",
        arguments: { ["unlock", vault.folder, $0, TriedSecret.tally(of: vault)] })
    }

    private let secret: TriedSecret

    init() throws { secret = try Self.secret() }

    @Test("fifty processes with wrong passcodes get five key derivations together")
    func parallel() throws {
      let answers = try secret.race(50, "wrong")
      expect(answers.count, equals: 50)
      #expect(
        Set(answers).isSubset(of: ["refused authenticationFailed", "refused passcodeDelay"]),
        "\(Set(answers))")
      expect(secret.derivations, equals: 5)
    }

    @Test("each delay is kept to the millisecond, and lets one derivation through when it is over")
    func delays() throws {
      // Minutes after failure 5, 6, 7 …
      let minutes = [1, 5, 15, 30, 90, 240, 720, 2160, 2160]
      var now = TriedSecret.start
      for _ in 0..<5 { _ = try secret.one("wrong", at: now) }
      expect(secret.derivations, equals: 5)
      for (index, delay) in minutes.prefix(Scale.pick(4, long: 9)).enumerated() {
        now += delay * 60_000 - 1
        expect(Set(try secret.race(10, "right", at: now)), equals: ["refused passcodeDelay"])
        expect(secret.derivations, equals: 5 + index, "a derivation before the delay was over")
        now += 1
        let answers = try secret.race(20, "wrong", at: now)
        expect(answers.filter { $0 == "refused authenticationFailed" }.count, equals: 1)
        expect(secret.derivations, equals: 6 + index)
      }
    }

    @Test("a try that is killed in its derivation counts as much as one that failed")
    func killedInDerivation() throws { try secret.expectKilledInDerivation() }

    @Test("a killed try counts as much as one that failed", arguments: KillMoment.allCases)
    func killed(_ moment: KillMoment) throws {
      try TriedSecret.expectKilled(moment, rounds: Scale.pick(4, long: 200), Self.secret)
    }

    @Test("fifty processes with the right passcode are all let in")
    func right() throws {
      for _ in 0..<Scale.pick(2, long: 20) {
        try expect(secret.race(50, "right").filter { $0 != "unlocked" }, equals: [])
      }
      expect(secret.derivations, equals: Scale.pick(2, long: 20) * 50)
    }
  }
}
