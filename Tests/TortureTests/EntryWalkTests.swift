import Foundation
import TestSupport
import Testing
import VaultKit
import VaultTestKit

extension Torture {
  /// The one rule of entries, by a random walk against a model (`EntryModel` in vault-torture): after any step, killed after any
  /// commit, an entry has all that it had, or what the step asked for.
  ///
  /// Verified to fail when a new password drops the fields of an entry, when six former secrets are kept, when a credential stays in the
  /// vault while its entry is in the trash, or in the trash when its entry comes back, when the trash keeps the name, and when a change of
  /// the rule leaves former secrets.
  @Suite("A walk over entries", .bounded, .requirement("R1"), .serialized)
  struct EntryWalks {
    @Test(
      "after each kill the vault is at a step that was begun, and at none before the last that was acknowledged"
    )
    func killed() throws {
      let (seed, kills) = (Scale.seed, Scale.pick(12, long: 1_000))
      let vault = TemporaryVault(in: Place.fast)
      _ = try vault.makeCore()
      var random = SeededGenerator(seed: seed)
      var step = 0
      for _ in 0..<kills {
        let count = Int(random.next() % UInt64(Scale.pick(40, long: 160))) + 1
        try walk(vault, seed, from: step, lines: count)
        step = try position(vault, seed, from: step + count)
      }
      report("R1: \(step) steps over entries, \(kills) kills, seed \(seed)")
    }

    /// Walks until so many steps were acknowledged, and kills the process then.
    private func walk(_ vault: TemporaryVault, _ seed: UInt64, from step: Int, lines: Int) throws {
      let gate = try Gate()
      let process = try torture(
        "entries", vault.folder, "\(seed)", "\(step)", "\(step + lines + 150)", gate: gate)
      for number in 1...lines { expect(process.line(), equals: "\(step + number)") }
      process.kill()
      process.wait()
      gate.open()
    }

    /// The step that a copy of the vault is at. A look at the trash changes the copy.
    private func position(_ vault: TemporaryVault, _ seed: UInt64, from step: Int) throws -> Int {
      let copy = TemporaryVault(in: Place.fast)
      let place = copy.folder + "/copy"
      try FileManager.default.copyItem(atPath: vault.folder, toPath: place)
      let process = try torture("entries-at", place, "\(seed)", "\(step)")
      let line = try #require(process.line())
      process.wait()
      return try #require(line.hasPrefix("at ") ? Int(line.dropFirst(3)) : nil, "\(line)")
    }
  }
}
