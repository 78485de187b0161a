import AuthenticatorKit
import Glibc
import SecretMemory
import VaultKit
import VaultTestKit

/// Adds, updates and deletes items and makes codes until the test kills it (R1).
///
/// First prints the present items. Then prints `> intent` before each operation and `< result` after its commit.
enum Operations {
  static func run(_ rig: Rig, seed: UInt64) {
    do throws(VaultError) {
      let core = try rig.open()
      var names = try describe(core)
      let counter = try core.item(named: "counter").id
      let random = SeededRandom(seed: seed)
      say("ready")
      while true {
        try step(core, &names, counter, random)
      }
    } catch {
      say("ERROR \(error.word) \(error.message)")
      exit(1)
    }
  }

  /// Prints every item with its secret, and the next counter. Returns the items by name.
  private static func describe(_ core: VaultCore) throws(VaultError) -> [String: ItemID] {
    var names: [String: ItemID] = [:]
    for item in try core.items(matching: Query(.genericPassword)) {
      let value = String(decoding: try core.secret(of: item.id).bytesForTesting, as: UTF8.self)
      let label = item.attributes[.label] ?? "-"
      say("= \(item.name!) \(value) \(label)")
      names[item.name!] = item.id
    }
    say("= counter \(try core.describeOTP(named: "counter").state.counter)")
    return names
  }

  private static func step(
    _ core: VaultCore, _ names: inout [String: ItemID], _ counter: ItemID, _ random: SeededRandom
  ) throws(VaultError) {
    let name = "n\(random.below(8))"
    let value = String(random.next() >> 1, radix: 36)
    switch (random.below(5), names[name]) {
    case (0, _), (1, _):
      say("> code")
      let result = try core.nextHOTPCode(of: counter)
      guard case .counter(let used) = result.factor else { fail("no counter") }
      say("< code \(used) \(result.code)")
    case (2, let id?):
      say("> delete \(name)")
      try core.delete(Query(id: id))
      names[name] = nil
      say("<")
    case (_, let id?):
      say("> update \(name) \(value) \(value)")
      var changes = ItemChanges()
      changes.attributes[.label] = value
      try core.update(id, changes, secret: SecretBytes(testing: value))
      say("<")
    case (_, nil):
      say("> put \(name) \(value) -")
      names[name] = try core.add(
        NewItem(.genericPassword, name: name), secret: SecretBytes(testing: value)
      ).id
      say("<")
    }
  }
}
