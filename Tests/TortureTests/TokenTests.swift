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
        let answers = try race(processes, vault, "card-\(round)").answers
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
    @Test("under kill never two get it")
    func killed() throws {
      let (processes, tokens) = (Scale.pick(30, long: 200), Scale.pick(5, long: 200))
      let random = SeededRandom(seed: Scale.seed)
      let vault = TemporaryVault(in: Place.fast)
      let core = try vault.makeCore()
      var (lost, killed) = (0, 0)
      for round in 0..<tokens {
        let id = try store(round, in: core)
        let found = try race(processes, vault, "card-\(round)", killing: random)
        let winners = found.answers.count { $0.hasPrefix("taken") }
        killed += found.killed
        #expect(winners <= 1, "round \(round), seed \(Scale.seed)")
        let isOver = try core.cardToken(id).status == .ended
        #expect(winners == 0 || isOver)
        if winners == 0, isOver { lost += 1 }
        try core.delete(id)
      }
      report("R10: \(killed) kills, \(tokens) tokens, \(lost) uses lost, seed \(Scale.seed)")
      // A kill that never hits anything proves nothing.
      #expect(killed > tokens)
      try expect(core.verify().problems, equals: [])
    }

    private static func token(_ round: Int) -> [UInt8] { Array("token \(round)".utf8) }

    private func store(_ round: Int, in core: VaultCore) throws -> ItemID {
      try core.storeToken(
        NewCardToken("card-\(round)", timeToLive: .seconds(86_400)),
        secret: SharedSecret(SecretBytes(copying: Self.token(round)))
      ).id
    }

    /// Lets processes take a token at one moment.
    private func race(
      _ count: Int, _ vault: TemporaryVault, _ name: String, killing random: SeededRandom? = nil
    ) throws -> (answers: [String], killed: Int) {
      let gate = try Gate()
      let all = try (0..<count).map { _ in try torture("take", vault.folder, name, gate: gate) }
      for process in all { expect(process.line(), equals: "ready") }
      gate.open()
      if let random {
        for _ in 0..<count / 2 {
          usleep(UInt32(random.below(2_000)))
          all[random.below(count)].kill()
        }
      }
      let answers = all.flatMap { $0.lines() }
      return (answers, all.count { $0.wait() == -SIGKILL })
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
        for _ in 0..<20 {
          step(clock, &model, random)
          let isTaken = (try? core.takeToken(id)) != nil
          expect(isTaken, equals: model.isValid, "\(model), seed \(Scale.seed)")
          if !isTaken { model.hasEnded = true }
          valid += isTaken ? 1 : 0
          over += isTaken ? 0 : 1
        }
        try expect(core.verify().problems, equals: [])
      }
      report("R11: \(valid) times valid, \(over) times over, seed \(Scale.seed)")
      #expect(valid > 20 && over > 20)
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
      case 0..<14:
        let seconds = Int64(random.below(40))
        clock.advance(by: .seconds(seconds))
        model.boot += seconds
        model.wall += seconds
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
  }
}
