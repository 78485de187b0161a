import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultKit
import VaultTestKit

extension Torture {
  /// A vault of 100,000 items.
  @Suite("Many items", .bounded, .serialized)
  struct Size {
    @Test("100,000 items: get, search, list and verify work, and a get does not grow with their number")
    func many() throws {
      let count = Scale.pick(100_000, long: 1_000_000)
      let vault = TemporaryVault(in: Place.fast)
      let core = try vault.makeCore()
      try timed("add 1,000") { try add(core, 0..<1_000) }
      let few = try getTime(core, among: 1_000)
      try timed("add the others, 20,000 a commit") {
        for start in stride(from: 1_000, to: count, by: 20_000) {
          try add(core, start..<min(start + 20_000, count))
        }
      }
      let reopened = try timed("open") { try vault.openCore() }
      let many = try getTime(reopened, among: count)
      report("size: get one by name with its secret: \(few) µs of 1,000, \(many) µs of \(count)")
      // Opening every item would take a hundred times as long: this only tells growth from none.
      #expect(many < few * 8 + 200)
      var service = Query()
      service.attributes[.service] = "service 7"
      let found = try timed("search by service") { try reopened.items(matching: service) }
      expect(found.count, equals: count / 1_000)
      try expect(timed("list") { try reopened.items(matching: Query()).count }, equals: count)
      var steps = 0
      let verified = try timed("verify") { try reopened.verify { _ in steps += 1 } }
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

    /// The median, in microseconds.
    private func getTime(_ core: VaultCore, among count: Int) throws -> Int {
      let random = SeededRandom(seed: 1)
      let times = try (0..<1_001).map { _ in
        let number = random.below(count)
        let start = ContinuousClock.now
        let secret = try core.secret(of: core.item(named: "item \(number)").id)
        let time = ContinuousClock.now - start
        try #require(secret.bytesForTesting == Array("secret \(number)".utf8))
        return time
      }
      return Int(times.sorted()[500] / .microseconds(1))
    }

    private func timed<R>(_ what: String, _ body: () throws -> R) rethrows -> R {
      let start = ContinuousClock.now
      let result = try body()
      report("size: \(what): \(Int((ContinuousClock.now - start) / .milliseconds(1))) ms")
      return result
    }
  }
}
