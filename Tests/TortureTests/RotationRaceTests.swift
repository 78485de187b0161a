import SecretMemory
import TestSupport
import Testing
import VaultKit
import VaultTestKit

extension Torture {
  /// Rotations of the epoch at once. Each ends, and none says that the vault is locked or damaged.
  ///
  /// Verified to fail when `rotate` does not unlock again after another process made new keys.
  @Suite("Rotations at once", .bounded, .serialized)
  struct RotationRaces {
    @Test("each rotation of three processes ends, with the passcode and without", arguments: [nil, "pass"])
    func rotations(passcode: String?) async throws {
      let vault = TemporaryVault(in: Place.fast)
      let core = try vault.makeCore(passcode: passcode)
      for number in 0..<20 {
        _ = try core.add(
          NewItem(.genericPassword, name: "n\(number)"), secret: SecretBytes(testing: "secret \(number)"))
      }
      let rounds = Scale.pick(8, long: 200)
      _ = try await lanes(3) { _ in
        let core = try vault.openCore()
        for _ in 0..<rounds { try core.rotateEpoch(passcode: try passcode.map(Self.typed)) }
      }
      let later = try vault.openCore()
      if let passcode { try later.unlock(with: Self.typed(passcode)) }
      #expect(!later.isRotating)
      try expect(later.verify().problems, equals: [])
      try expect(later.secret(of: later.item(named: "n7").id).bytesForTesting, equals: Array("secret 7".utf8))
      report("rotations at once: \(3 * rounds), to generation \(try later.status().generation)")
    }

    private static func typed(_ text: String) throws(VaultError) -> Passcode { try Passcode(testing: text) }
  }
}
