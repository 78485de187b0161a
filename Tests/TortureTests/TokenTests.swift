import AuthenticatorKit
import Foundation
import Glibc
import SecretMemory
import TestSupport
import Testing
import VaultKit
import VaultTestKit

extension Torture {
  /// Verified to fail when the use is subtracted in a commit after the one that hands the token out.
  @Suite("Many processes, one card token", .bounded, .requirement("R10"), .serialized)
  struct TokenUses {
    @Test("of the processes that want the last use exactly one gets it, and none later")
    func oneWinner() throws {
      let (processes, tokens) = (Scale.pick(40, long: 200), Scale.pick(3, long: 1_000))
      let vault = TemporaryVault(in: Place.fast)
      let core = try vault.makeCore()
      for round in 0..<tokens {
        let id = try store(round, in: core)
        let answers = try race(processes, vault, "card-\(round)")
        expect(answers.count, equals: processes)
        expect(
          answers.filter { $0 == "taken " + hexadecimal(Self.token(round)) }.count, equals: 1,
          "round \(round)")
        let others = Set(answers.filter { !$0.hasPrefix("taken") })
        #expect(others.isSubset(of: ["refused expired"]), "\(others)")
        try expect(core.cardToken(id).status, equals: .ended)
        try core.delete(id)
      }
      report("R10: \(processes) processes, \(tokens) tokens, one winner each")
      try expect(core.verify().problems, equals: [])
    }

    /// A kill may lose a use, and never doubles one.
    @Test("under kill never two get it", arguments: [false, true])
    func killed(isRace: Bool) throws {
      let (others, kills) = (Scale.pick(isRace ? 8 : 2, long: 100), Scale.pick(isRace ? 6 : 30, long: 500))
      let vault = TemporaryVault(in: Place.fast)
      let core = try vault.makeCore()
      let commands = try KilledCommands("vault-torture", random: SeededRandom(seed: Scale.seed))
      let known = try store(0, in: core)
      try commands.learn("take", ["take", vault.folder, "card-0"])
      try core.delete(known)
      var (lost, round) = (0, 0)
      while (isRace ? round : commands.hits) < kills {
        round += 1
        let id = try store(round, in: core)
        let words = ["take", vault.folder, "card-\(round)"]
        // One is killed and then the others come, or they come at once and half of them are killed.
        var answers = try isRace ? [] : commands.run("take", words).lines
        answers += try race(others, vault, "card-\(round)", isRace ? commands : nil)
        let winners = answers.count { $0.hasPrefix("taken") }
        #expect(winners <= 1, "round \(round), seed \(Scale.seed)")
        try expect(core.cardToken(id).status, equals: .ended, "round \(round)")
        if winners == 0 { lost += 1 }
        try core.delete(id)
      }
      report(
        "R10: \(isRace ? "killed in a race" : commands.summary), \(round) tokens, \(lost) uses lost, seed \(Scale.seed)"
      )
      try expect(core.verify().problems, equals: [])
    }

    private static func token(_ round: Int) -> [UInt8] { Array("token \(round)".utf8) }

    private func store(_ round: Int, in core: VaultCore) throws -> ItemID {
      try core.storeToken(
        NewCardToken("card-\(round)", timeToLive: .seconds(86_400)),
        secret: SharedSecret(SecretBytes(copying: Self.token(round)))
      ).id
    }

    /// Lets processes take a token at one moment; what they say.
    ///
    /// - Parameter killed: Kills every second one, and some of them before they are ready.
    private func race(
      _ count: Int, _ vault: TemporaryVault, _ name: String, _ killed: KilledCommands? = nil
    ) throws -> [String] {
      let gate = try Gate()
      let words = ["take", vault.folder, name]
      let all = try (0..<count).map { number in
        guard let killed, number % 2 == 0 else {
          return try Running(Built.path("vault-torture"), words, gate: gate)
        }
        return try killed.start("take", words, gate: gate)
      }
      for process in all {
        let line = process.line()
        #expect(line == "ready" || line == nil && killed != nil, "\(line ?? "-")")
      }
      gate.open()
      return all.flatMap { $0.lines() }
    }

    private func hexadecimal(_ bytes: [UInt8]) -> String {
      bytes.map { String(format: "%02x", $0) }.joined()
    }
  }

  /// Verified to fail when the wall clock is not asked, and when the boot is not compared.
  @Suite("Card tokens under wrong clocks", .bounded, .requirement("R11"), .serialized)
  struct TokenLife {
    @Test(
      "whatever the clocks do, a token is valid at most for its time, and never again when it was refused")
    func life() throws {
      let random = SeededRandom(seed: Scale.seed)
      var (valid, over) = (0, 0)
      for _ in 0..<Scale.pick(40, long: 2_000) {
        // After a restart the time since boot is again within the life of the token.
        let clock = FixedClock(sinceBoot: .zero)
        let place = TemporaryVault(environment: .testing(clock: clock), in: Place.fast)
        let core = try place.makeCore()
        let ttl = 1 + random.below(500)
        var new = NewCardToken("card", timeToLive: .seconds(ttl))
        new.uses = .max
        let id = try core.storeToken(new, secret: SharedSecret(SecretBytes(testing: "tok"))).id
        var model = Model(ttl: Int64(ttl))
        for number in 0..<22 {
          // It is valid at first, and not when its time is over.
          switch number {
          case 0: break
          case 21: pass(Int64(ttl), clock, &model)
          default: step(clock, &model, random)
          }
          let isTaken = (try? core.takeToken(id)) != nil
          expect(isTaken, equals: model.isValid, "\(model), seed \(Scale.seed)")
          if !isTaken { model.hasEnded = true }
          valid += isTaken ? 1 : 0
          over += isTaken ? 0 : 1
        }
        try expect(core.verify().problems, equals: [])
      }
      report("R11: \(valid) times valid, \(over) times over, seed \(Scale.seed)")
    }

    /// The rule of section 12, written down a second time.
    private struct Model {
      let ttl: Int64
      var boot: Int64 = 0
      var wall: Int64 = 0
      var isOtherBoot = false
      var hasEnded = false

      var isValid: Bool {
        !hasEnded && !isOtherBoot && boot < ttl && wall >= -60 && wall <= ttl + 60
      }
    }

    /// Time passes, the wall clock is set by seconds or by a day, or the machine starts again.
    private func step(_ clock: FixedClock, _ model: inout Model, _ random: SeededRandom) {
      switch random.below(20) {
      case 0..<14: pass(Int64(random.below(40)), clock, &model)
      case 14..<17:
        let seconds = Int64(random.below(121)) - 60
        clock.set(to: Instant(seconds: clock.now().seconds + seconds))
        model.wall += seconds
      case 17, 18:
        let seconds: Int64 = random.below(2) == 0 ? 86_400 : -86_400
        clock.set(to: Instant(seconds: clock.now().seconds + seconds))
        model.wall += seconds
      default:
        clock.reboot()
        model.isOtherBoot = true
      }
    }

    private func pass(_ seconds: Int64, _ clock: FixedClock, _ model: inout Model) {
      clock.advance(by: .seconds(seconds))
      model.boot += seconds
      model.wall += seconds
    }
  }
}
