import SecretMemory
import TestSupport
import Testing
import VaultCrypto
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Attacks on transactions", .bounded)
struct AttackTransactionTests {
  @Test("a duplicate that the closure passes over leaves the others and a sound vault")
  func swallowedDuplicate() throws {
    let place = TemporaryVault()
    let core = try place.makeCore()
    _ = try core.add(NewItem(.genericPassword, name: "a"), secret: SecretBytes(testing: "1"))
    let added = try core.writing { transaction throws(VaultError) in
      var added = 0
      for name in ["a", "b", "a", "c"] {
        do throws(VaultError) {
          _ = try transaction.add(NewItem(.genericPassword, name: name), secret: SecretBytes(testing: name))
          added += 1
        } catch { expect(error.code, equals: .duplicateItem) }
      }
      return added
    }
    expect(added, equals: 2)
    let again = try place.openCore()
    try expect(again.items(matching: Query()).map(\.name), equals: ["a", "b", "c"])
    try expect(again.verify().problems, equals: [])
  }

  @Test("a change onto a taken name that the closure passes over leaves the old secret readable")
  func swallowedUpdate() throws {
    let place = TemporaryVault()
    let core = try place.makeCore()
    _ = try core.add(NewItem(.genericPassword, name: "a"), secret: SecretBytes(testing: "1"))
    let item = try core.add(NewItem(.genericPassword, name: "b"), secret: SecretBytes(testing: "2"))
    var attributes = Attributes()
    attributes[.name] = "a"
    try core.writing { transaction throws(VaultError) in
      do throws(VaultError) {
        try transaction.update(
          item.id, ItemChanges(attributes: attributes), secret: SecretBytes(testing: "3"))
      } catch { expect(error.code, equals: .duplicateItem) }
      _ = try transaction.add(NewItem(.genericPassword, name: "c"))
    }
    let again = try place.openCore()
    try expect(again.secret(of: item.id).bytesForTesting, equals: Array("2".utf8))
    try expect(again.verify().problems, equals: [])
  }

  @Test("a secret that is too long, passed over by the closure, leaves a sound vault")
  func swallowedLength() throws {
    let place = TemporaryVault()
    let core = try place.makeCore()
    try core.writing { transaction throws(VaultError) in
      do throws(VaultError) {
        _ = try transaction.add(
          NewItem(.genericPassword, name: "a"),
          secret: SecretBytes(copying: [UInt8](repeating: 1, count: 1 << 20 | 1)))
      } catch { expect(error.code, equals: .malformed) }
      _ = try transaction.add(NewItem(.genericPassword, name: "b"), secret: SecretBytes(testing: "2"))
    }
    try expect(place.openCore().verify().problems, equals: [])
  }

  @Test("an operation that stopped half way cannot be committed, whatever the closure makes of its error")
  func halfWay() throws {
    let random = FailingRandom()
    let place = TemporaryVault(environment: .testing(random: random))
    let core = try place.makeCore()
    for draws in 0..<12 {
      random.fail(after: draws)
      _ = try? core.writing { transaction throws(VaultError) in
        do throws(VaultError) {
          _ = try transaction.add(
            NewItem(.genericPassword, name: "n\(draws)"), secret: SecretBytes(testing: "s"))
        } catch { random.heal() }
      }
      random.heal()
      try expect(place.openCore().verify().problems, equals: [])
    }
  }

  @Test("a vault opens for reading when what an opening tidies cannot be written")
  func tidyingFails() throws {
    let random = FailingRandom()
    let clock = FixedClock()
    let place = TemporaryVault(environment: .testing(clock: clock, random: random))
    let core = try place.makeCore()
    let kept = try core.add(NewItem(.genericPassword, name: "kept"), secret: SecretBytes(testing: "s"))
    _ = try core.add(NewItem(ItemKind(rawValue: 0x8001), name: "old", expires: clock.now()))
    clock.advance(by: .seconds(48 * 3600))
    random.fail(after: 0)
    try expect(place.openCore().secret(of: kept.id).byteCount, equals: 1)
  }

  @Test("a name given as bytes is held to the rules of names")
  func nameAsBytes() throws {
    let core = try TemporaryVault().makeCore()
    var attributes = Attributes()
    attributes[Attribute<[UInt8]>(code: 1)] = Array("a\u{1B}[2J".utf8)
    let new = NewItem(.genericPassword, attributes: attributes)
    expect(.malformed) { () throws(VaultError) in _ = try core.add(new) }
  }

  @Test("the first moment there is has seconds", arguments: [Int64.min, .min + 999, -1000, -1, 0, 999, .max])
  func firstMoment(milliseconds: Int64) {
    let seconds = Instant(milliseconds: milliseconds).seconds
    #expect(Instant(seconds: seconds) <= Instant(milliseconds: milliseconds))
    #expect(
      seconds == Int64.max / 1000 || Instant(seconds: seconds + 1) > Instant(milliseconds: milliseconds))
  }
}
