import Foundation
import Glibc
import Testing
import VaultKit
import VaultTestKit

extension Torture {
  /// R21 for passcode, epoch and device key. Planted, and found: `config` not compared in `Session.headForWriting`.
  @Suite("Items against changes of the passcode and of the keys (R21)", .serialized)
  struct PasscodeRaces {
    @Test("every acknowledged item opens, or was listed as destroyed")
    func race() throws {
      let changes = Scale.pick(200, long: 1_000)
      let seed = Scale.seed
      let vault = TemporaryVault(in: Place.fast)
      _ = try vault.makeCore()
      let gate = try Gate()
      let adders = try (1...4).map { try torture("add", vault.folder, "pass", "\($0)", gate: gate) }
      let changer = try torture("passcode", vault.folder, "pass", "\(changes)", "\(seed)")
      let said = changer.lines()
      gate.open()
      #expect(changer.wait() == 0 && said.last == "end", "\(said.suffix(2))")
      let destroyed = Set(said.filter { $0.hasPrefix("destroyed ") }.map { String($0.dropFirst(10)) })
      var acknowledged: [String: String] = [:]
      for adder in adders {
        let lines = adder.lines()
        #expect(adder.wait() == 0 && lines.last == "end", "\(lines.suffix(2))")
        for line in lines where line.hasPrefix("< ") {
          let words = line.split(separator: " ")
          acknowledged[String(words[1])] = String(words[2])
        }
      }
      report(
        "R21: \(acknowledged.count) items added during \(changes) changes of passcode and keys, "
          + "\(said.count { $0 == "rotated epoch" }) epochs, \(said.count { $0 == "rotated device-key" }) device keys, "
          + "\(destroyed.count) destroyed, seed \(seed)")
      #expect(acknowledged.count > changes / 2 && !destroyed.isEmpty)
      #expect(try lost(vault, acknowledged, destroyed) == [])
    }

    private func lost(_ vault: TemporaryVault, _ acknowledged: [String: String], _ destroyed: Set<String>)
      throws
      -> [String]
    {
      let core = try vault.openCore()
      if core.hasPasscode { try core.unlock(with: Passcode(testing: "pass")) }
      #expect(try core.verify().problems == [])
      return acknowledged.filter { id, name in
        if destroyed.contains(id) { return false }
        let secret = try? core.secret(of: ItemID(hexadecimal: id)!)
        guard let secret else { return true }
        return String(decoding: secret.bytesForTesting, as: UTF8.self) != "secret of " + name
      }.map(\.value).sorted()
    }
  }

  /// R5 for the passcode. Planted, and found: attempts under way not counted in `Lockout.begin`; the first delay after
  /// six failures in place of five.
  @Suite("Tries of the passcode (R5)", .serialized)
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
      #expect(answers.count == 50)
      #expect(
        Set(answers).isSubset(of: ["refused authenticationFailed", "refused lockedOut"]), "\(Set(answers))")
      #expect(derivations == 5)
    }

    @Test("each delay is kept to the millisecond, and lets one derivation through when it is over")
    func delays() throws {
      // Minutes after failure 5, 6, 7 …; DESIGN 5.
      let minutes: [UInt64] = [1, 5, 15, 30, 90, 240, 720, 2160, 2160]
      var now: UInt64 = 1_000_000
      for _ in 0..<5 { _ = try race(1, "wrong", ["\(now)"]) }
      #expect(derivations == 5)
      for (index, delay) in minutes.prefix(Scale.pick(4, long: 9)).enumerated() {
        now += delay * 60_000 - 1
        #expect(Set(try race(10, "right", ["\(now)"])) == ["refused lockedOut"])
        #expect(derivations == 5 + index, "a derivation before the delay was over")
        now += 1
        let answers = try race(20, "wrong", ["\(now)"])
        #expect(answers.filter { $0 == "refused authenticationFailed" }.count == 1)
        #expect(derivations == 6 + index)
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
      #expect(try torture("unlock", vault.folder, "right", tally).lines() == ["refused lockedOut"])
    }

    @Test("fifty processes with the right passcode are all let in")
    func right() throws {
      for _ in 0..<Scale.pick(2, long: 20) {
        #expect(try race(50, "right", []).filter { $0 != "unlocked" } == [])
      }
      #expect(derivations == Scale.pick(2, long: 20) * 50)
    }

    private func race(_ count: Int, _ passcode: String, _ more: [String]) throws -> [String] {
      let gate = try Gate()
      let all = try (0..<count).map { _ in
        try Running(Program.torture, ["unlock", vault.folder, passcode, tally] + more, gate: gate)
      }
      gate.open()
      return all.flatMap { $0.lines() }
    }

    private var derivations: Int {
      (try? FileManager.default.attributesOfItem(atPath: tally)[.size] as? Int) ?? 0
    }
  }
}
