import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultKit
import VaultTestKit

extension Torture {
  /// A vault of 100,000 items. Verified to fail when a search for a name looks at every item.
  @Suite("Many items", .bounded, .serialized)
  struct Size {
    @Test("100,000 items: get, search, list and verify work, and a get does not grow with their number")
    func many() throws {
      let count = Scale.pick(100_000, long: 1_000_000)
      let vault = TemporaryVault(in: Place.fast)
      let core = try vault.makeCore()
      try add(core, 0..<1_000)
      let few = try pagesRead(in: vault, among: 1_000)
      for start in stride(from: 1_000, to: count, by: 20_000) {
        try add(core, start..<min(start + 20_000, count))
      }
      let reopened = try vault.openCore()
      let many = try pagesRead(in: vault, among: count)
      report("size: get one by name with its secret: \(few) pages read of 1,000, \(many) of \(count)")
      // Trees of a hundred times as many rows are one or two pages higher; all rows are tens of thousands of pages.
      #expect(many < few + 20)
      let random = SeededRandom(seed: 1)
      for number in (0..<100).map({ _ in random.below(count) }) {
        let secret = try reopened.secret(of: reopened.item(named: "item \(number)").id)
        expect(secret.bytesForTesting, equals: Array("secret \(number)".utf8))
      }
      var service = Query()
      service.attributes[.service] = "service 7"
      try expect(reopened.items(matching: service).count, equals: count / 1_000)
      try expect(reopened.items(matching: Query()).count, equals: count)
      var steps = 0
      let verified = try reopened.verify { _ in steps += 1 }
      #expect(verified.problems == [] && verified.items == count && verified.secrets == count)
      #expect(steps > 100, "no progress is shown")
    }

    private func add(_ core: VaultCore, _ numbers: Range<Int>) throws {
      try core.write { transaction in
        for number in numbers {
          var new = NewItem(.genericPassword, name: "item \(number)")
          new.attributes[.service] = "service \(number % 1_000)"
          _ = try transaction.add(new, secret: SecretBytes(testing: "secret \(number)"))
        }
      }
    }

    /// How often the tool reads from the vault, at most, to get one of some items.
    private func pagesRead(in vault: TemporaryVault, among count: Int) throws -> Int {
      let random = SeededRandom(seed: 1)
      let log = vault.folder + "/calls"
      let tracing = try [Shell.need("strace"), "-qq", "-o", log, "-e", "trace=pread64,preadv,read"]
      return try (0..<5).map { _ in
        let number = random.below(count)
        let words = tracing + [Built.path("vaultctl-testing"), "get", "item \(number)"]
        let process = try Running(
          words[0], Array(words.dropFirst()), environment: Tool(vault).environment, errors: false)
        let said = process.lines()
        try #require(process.wait() == 0, "\(said)")
        return try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").count
      }.max()!
    }
  }
}
