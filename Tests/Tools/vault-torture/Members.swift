import Glibc
import SecretMemory
import VaultKit
import VaultTestKit

/// Gives one phrase for an item. Every key derivation adds one byte to a file (R5 for biometry).
enum Phrases {
  /// - Parameter stops: Whether it waits in the derivation until the test kills it.
  static func run(_ rig: Rig, name: String, phrase: String, tally: String, stops: Bool) {
    var rig = rig
    rig.environment.derivationObserver = Tally.observer(tally, stops: stops)
    do throws(VaultError) {
      let core = try rig.open()
      let id = try core.item(named: name).id
      let context = AuthenticationContext(reason: "", interaction: .notAllowed)
      context.provide(try BiometricPhrase(testing: phrase))
      waitForStart()
      _ = try core.secret(of: id, context: context)
      say("opened")
    } catch {
      say("refused \(error.word)")
    }
  }
}

/// Changes the enrolled set and stores items for it until the test kills it. The vault is locked half of the time
/// (R14).
enum MemberChanges {
  static func run(_ rig: Rig, passcode: String, seed: UInt64) {
    let random = SeededRandom(seed: seed)
    do throws(VaultError) {
      var core = try rig.open()
      var number = 0
      while true {
        number += 1
        let members = try core.enrolledMembers().map(\.name)
        switch random.below(8) {
        case 0, 1: if members.count < 4 { try enroll("m\(seed)-\(number)", in: core, passcode: passcode) }
        case 2, 3: if !members.isEmpty { try remove(members[random.below(members.count)], from: core) }
        case 4: core = try rig.open()
        case 5: try core.unlock(with: Passcode(testing: passcode))
        default: if !members.isEmpty { try add("i\(seed)-\(number)", to: core, random: random) }
        }
      }
    } catch {
      say("ERROR \(error.word) \(error.message)")
      exit(1)
    }
  }

  private static func enroll(_ name: String, in core: VaultCore, passcode: String) throws(VaultError) {
    say("> enroll \(name)")
    _ = try core.enroll(
      BiometricPhrase(testing: name), named: name, passcode: Passcode(testing: passcode))
    say("< enroll \(name)")
  }

  private static func remove(_ name: String, from core: VaultCore) throws(VaultError) {
    say("> remove \(name)")
    try core.removeMember(named: name)
    say("< remove \(name)")
  }

  private static func add(_ name: String, to core: VaultCore, random: SeededRandom) throws(VaultError) {
    guard core.isUnlocked else { return }
    let isCurrent = random.below(3) > 0
    let access = try AccessControl(
      isCurrent ? .biometryCurrentSet : .biometryAny, accessibility: .afterFirstUnlock)
    let item = try core.add(
      NewItem(.genericPassword, name: name, access: access), secret: SecretBytes(testing: "secret of " + name)
    )
    say("< item \(item.id.hexadecimal) \(name) \(isCurrent ? "set" : "any")")
  }
}
