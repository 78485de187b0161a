import Foundation
import Glibc
import TestSupport
import Testing
import VaultKit
import VaultTestKit

extension Torture {
  /// A secret of a vault of which few wrong ones are judged, and the processes that try it (R5). Their clock stands still.
  struct TriedSecret {
    let vault: TemporaryVault
    let right: String
    let wrong: String
    /// How many wrong ones are judged.
    let limit: Int
    /// What a process says whose try comes too late.
    let refusal: String
    /// The arguments with which `vault-torture` tries a secret.
    let arguments: (String) -> [String]

    /// A time, in milliseconds since boot.
    static let start = 1_000_000
    /// The time at which tries of ``start`` without a verdict count as failures.
    static let later = start + Int(max(Lockout.verdictMilliseconds, PINAttempts.verdictMilliseconds))

    static func tally(of vault: TemporaryVault) -> String { vault.folder + "/tally" }

    /// The key derivations of all processes.
    var derivations: Int {
      (try? FileManager.default.attributesOfItem(atPath: Self.tally(of: vault))[.size] as? Int) ?? 0
    }

    func start(
      _ secret: String, at time: Int = start, gate: Gate? = nil, stops: Bool = false
    ) throws -> Running {
      try Running(
        Built.path("vault-torture"), arguments(secret) + (stops ? ["stop"] : []),
        environment: Self.environment(time), gate: gate)
    }

    /// What one process says.
    func one(_ secret: String, at time: Int = start) throws -> [String] {
      try start(secret, at: time).lines()
    }

    /// What many processes say that try a secret at once.
    func race(_ count: Int, _ secret: String, at time: Int = start) throws -> [String] {
      let gate = try Gate()
      let all = try (0..<count).map { _ in try start(secret, at: time, gate: gate) }
      gate.open()
      return all.flatMap { $0.lines() }
    }

    private static func environment(_ time: Int) -> [String: String] { ["VAULT_TORTURE_BOOT": "\(time)"] }
  }
}

extension Torture.TriedSecret {
  /// Kills as many tries as are judged, each in its derivation: each counts, and no other is judged.
  func expectKilledInDerivation() throws {
    for number in 1...limit {
      let process = try start(wrong, stops: true)
      expect(process.line(), equals: "deriving")
      process.kill()
      expect(process.wait(), equals: -SIGKILL)
      expect(derivations, equals: number)
    }
    for secret in [wrong, right] { try expect(one(secret, at: Self.later), equals: [refusal]) }
    expect(derivations, equals: limit)
  }

  /// Kills as many tries as are judged: with as many that are not killed no more are judged, and the right secret comes too late.
  ///
  /// - Parameter make: Makes the secret of a round.
  static func expectKilled(_ moment: Torture.KillMoment, rounds: Int, _ make: () throws -> Self) throws {
    let random = SeededRandom(seed: Scale.seed)
    let commands = try Torture.KilledCommands(
      "vault-torture", environment: environment(start), random: random)
    let first = try make()
    try commands.learn("try", first.arguments(first.wrong))
    var derived = 0
    for _ in 0..<rounds {
      let secret = try make()
      for _ in 0..<secret.limit {
        switch moment {
        case .systemCall: _ = try commands.run("try", secret.arguments(secret.wrong))
        case .random:
          let process = try secret.start(secret.wrong)
          passRandomMoment(microseconds: random.below(30_000))
          process.kill()
          process.wait()
        }
        #expect(secret.derivations <= secret.limit)
      }
      for _ in 0..<secret.limit { _ = try secret.one(secret.wrong, at: later) }
      #expect(secret.derivations <= secret.limit)
      try expect(secret.one(secret.right, at: later), equals: [secret.refusal])
      derived += secret.derivations
    }
    report(
      "R5, \(first.refusal): \(rounds * first.limit) tries killed \(moment.rawValue), and as many that were not: "
        + "\(derived) key derivations, seed \(Scale.seed)")
  }
}
