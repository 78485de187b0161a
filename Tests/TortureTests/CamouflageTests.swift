import Foundation
import TestSupport
import Testing
import VaultTestKit

extension Torture {
  /// What `Tests/Camouflage/attack.py` finds in vaults that the library made, with old copies and backups. The vaults
  /// follow from a fixed seed, so the short and the long form give the same ranks each time.
  ///
  /// The vaults have acceptances that the server does not have yet.
  ///
  /// Verified to fail when a credential has its first code as an attribute, when the code of an acceptance is kept, and, in the
  /// attack, when the secrets of two masks are not compared.
  @Suite("Camouflaged PINs look all the same", .bounded, .requirement("R12"), .serialized)
  struct Camouflage {
    private static let attack = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Camouflage/attack.py").path

    @Test("the true PIN has a rank like any other")
    func chance() throws {
      let vaults = try Vaults(Scale.pick(3, long: 1_000), planting: "nothing")
      try vaults.expectAttack(Scale.isLong ? ["--learn"] : [])
    }

    @Test(
      "a secret that has two masks, or is there without a mask, reveals the PIN",
      arguments: ["twice", "plain"])
    func planted(what: String) throws {
      let vaults = try Vaults(Scale.pick(1, long: 100), planting: what)
      try vaults.expectAttack(["--planted"])
    }

    /// A directory with so many vaults.
    private final class Vaults {
      private let folder: String

      init(_ count: Int, planting planted: String) throws {
        let parent = Scale.isLong ? NSTemporaryDirectory() : Place.fast ?? NSTemporaryDirectory()
        folder = parent + "/camouflage-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let maker = try torture("camouflage", folder, "12", "0", "\(count)", planted)
        let made = maker.lines()
        try #require(maker.wait() == 0 && made.count == count, "\(made.last ?? "")")
      }

      deinit { try? FileManager.default.removeItem(atPath: folder) }

      func expectAttack(_ options: [String]) throws {
        let run = try Program("/usr/bin/python3", ["-B", Camouflage.attack, folder] + options).run()
        let lines = run.text.split(separator: "\n")
        report("camouflage: \(lines.last ?? "")")
        expect(run.status, equals: 0, "\(lines.suffix(20).joined(separator: "\n"))")
      }
    }
  }
}
