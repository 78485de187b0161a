import Foundation
import Glibc
import SecretMemory
import TestSupport
import Testing
import VaultCrypto
import VaultTestKit

extension Torture {
  /// Midstates stand for their key: whoever has them makes every code. So they are looked for as keys are (R7).
  /// Verified to fail when a generator copies its midstates into an array, when kernels do not wipe stack and
  /// registers, and when midstates are kept in a file beside the vault.
  @Suite("Midstates leak nowhere", .bounded, .requirement("R7"), .serialized)
  struct MidstateLeaks {
    private let key = Canary.letters(20)

    @Test(
      "no midstate of a one-time-password key is in a file or in a core that root takes",
      arguments: ["open", "closed"])
    func nowhere(state: String) throws {
      try Shell.need("gcore")
      try needRoot("midstates in a core of another process")
      let vault = TemporaryVault(in: Place.fast)
      _ = try vault.makeCore()
      let gate = try Gate()
      let holder = try torture("midstates", vault.folder, key, state, gate: gate)
      expect(holder.line(), equals: "holding")
      let path = vault.folder + "/core"
      try Command.run("gcore", ["-a", "-o", path, "\(holder.pid)"])
      let core = try Data(contentsOf: URL(fileURLWithPath: "\(path).\(holder.pid)"), options: .mappedIfSafe)
      #expect(core.count > 1 << 20)
      // The key came as an argument, so the search must find it there.
      let isFound = core.holds(Array(key.utf8))
      #expect(isFound, "the search finds nothing at all")
      expect(leaks(in: core), equals: [])
      try FileManager.default.removeItem(atPath: "\(path).\(holder.pid)")
      var files = 0
      for file in FileManager.default.subpaths(atPath: vault.folder) ?? [] {
        guard let bytes = FileManager.default.contents(atPath: vault.folder + "/" + file) else { continue }
        expect(leaks(in: bytes), equals: [], "\(file)")
        files += 1
      }
      #expect(files >= 3)
    }

    @Test("the search finds a midstate in either byte order and a part of one")
    func search() {
      for (_, pattern) in patterns { #expect(leaks(in: Data([1, 2, 3]) + pattern + Data([4])) != []) }
      expect(leaks(in: Data(key.utf8)), equals: [])
    }

    /// Three words of a midstate are enough to be one: one after the other, the other way round as the registers of
    /// the SHA extensions have them, and one word in three lanes; in the byte order of the machine and in the other.
    private var patterns: [(String, Data)] {
      ["inner", "outer"].enumerated().flatMap { half, name -> [(String, Data)] in
        let words = Array(midstates[half * 5..<half * 5 + 5])
        let runs = (0..<3).map { Array(words[$0..<$0 + 3]) }
        let lanes = words.map { [$0, $0, $0] }
        return (runs + runs.map { $0.reversed() } + lanes).enumerated().flatMap { index, run in
          [("\(name) \(index)", data(run)), ("\(name) \(index), swapped", data(run.map(\.byteSwapped)))]
        }
      }
    }

    /// Five words after the inner key block, five after the outer one.
    private var midstates: [UInt32] {
      let hmac = KeyedHMAC(key: SecretBytes(testing: key), algorithm: .sha1)
      var words = [UInt32](repeating: 0, count: 10)
      unsafe words.withUnsafeMutableBytes { unsafe hmac.copyMidstates(to: $0) }
      return words
    }

    private func data(_ words: [UInt32]) -> Data {
      unsafe words.withUnsafeBytes { unsafe Data($0) }
    }

    private func leaks(in bytes: Data) -> [String] {
      patterns.filter { bytes.holds($0.1) }.map(\.0)
    }
  }
}
