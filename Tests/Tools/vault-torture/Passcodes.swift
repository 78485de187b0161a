import Glibc
import SecretMemory
import VaultKit
import VaultTestKit

/// Adds items of every class and behind every kind of factor until the test stops it, while another process changes
/// passcode, keys and the enrolled set. Reads each of its older items once more, then deletes it, so that the vault
/// does not grow without limit (R21).
final class Adding {
  private let rig: Rig
  private var core: VaultCore
  private let passcode: String
  private let random: SeededRandom
  private var kept: [(id: ItemID, name: String)] = []

  static func run(_ rig: Rig, passcode: String, seed: UInt64) {
    do throws(VaultError) {
      let adding = Adding(rig, try rig.open(), passcode, SeededRandom(seed: seed))
      var number = 0
      while !isStopAsked() {
        number += 1
        try adding.step("a\(seed)-\(number)")
      }
      say("end")
    } catch {
      say("ERROR \(error.word) \(error.message)")
      exit(1)
    }
  }

  private init(_ rig: Rig, _ core: VaultCore, _ passcode: String, _ random: SeededRandom) {
    self.rig = rig
    self.core = core
    self.passcode = passcode
    self.random = random
  }

  /// After `.locked`, unlocks, or opens the vault again if another process removed the passcode. After `.policy` (no
  /// passcode, no member, or one just changed), skips this item. After `.busy` nothing was done, and the test counts
  /// it. The same is true of a verification that lapsed because another process made new keys between the prompt and
  /// the use of the answer.
  private func step(_ name: String) throws(VaultError) {
    do throws(VaultError) {
      if random.below(64) == 0 { core = try rig.open() }
      try add(name)
      if kept.count > 100 { try look() }
    } catch  where [.busy, .verificationNeeded].contains(error.code) {
      say("busy \(error.message)")
    } catch  where error.code == .locked {
      do throws(VaultError) { try core.unlock(with: Passcode(testing: passcode)) } catch
        where error.code == .policy || error.code == .busy
      {} catch  where error.code == .locked {
        core = try rig.open()
      }
    } catch  where error.code == .policy {}
  }

  /// Prints the times of its beginning and of its acknowledgment.
  private func add(_ name: String) throws(VaultError) {
    let (access, kind) = try access()
    let start = microseconds()
    let item = try core.add(
      NewItem(.genericPassword, name: name, access: access),
      secret: SecretBytes(testing: "secret of " + name))
    say("< \(item.id.hexadecimal) \(name) \(kind) \(start) \(microseconds())")
    if kind == "plain" { kept.append((item.id, name)) }
  }

  /// One of five classes or, more rarely, an access rule with a member of the set. The test checks the items of such
  /// rules.
  private func access() throws(VaultError) -> (AccessControl, kind: String) {
    switch random.below(12) {
    case 0: return (try AccessControl(.biometryCurrentSet, accessibility: .afterFirstUnlock), "set")
    case 1: return (try AccessControl(.biometryAny), "any")
    case 2: return (try AccessControl(.devicePasscode, accessibility: .whenUnlocked), "plain")
    default:
      let classes: [AccessControl] = [
        AccessControl(.whenUnlocked), AccessControl(.afterFirstUnlock), AccessControl(.whenPasscodeSet),
        AccessControl(.whenUnlocked, thisDeviceOnly: true),
        AccessControl(.afterFirstUnlock, thisDeviceOnly: true),
      ]
      return (classes[random.below(classes.count)], "plain")
    }
  }

  /// Opens and deletes the oldest item. If the item no longer exists, the test checks which change destroyed it.
  private func look() throws(VaultError) {
    let (id, name) = kept[0]
    let context = AuthenticationContext(reason: "", interaction: .notAllowed)
    context.provide(try Passcode(testing: passcode))
    do throws(VaultError) {
      let secret = try core.secret(of: id, context: context)
      guard secret.bytesForTesting == Array("secret of \(name)".utf8) else {
        fail("\(name) holds another secret")
      }
      _ = try core.delete(Query(id: id), context: context)
      say("= \(id.hexadecimal)")
    } catch  where error.code.isAbsence {
      say("? \(id.hexadecimal) \(name)")
    }
    kept.removeFirst()
  }
}

/// Sets, changes and removes the passcode, rotates epoch and device key, enrolls and removes members, until the test stops
/// it. Lists the items that these changes destroy (R21).
final class KeyChanges {
  private let core: VaultCore
  private let passcode: String
  private let random: SeededRandom
  private var number = 0

  /// Ends with a passcode and two members, `left` and `right`, so that items can still be opened.
  static func run(_ rig: Rig, _ passcode: String, seed: UInt64) {
    do throws(VaultError) {
      let changes = KeyChanges(try rig.open(), passcode, SeededRandom(seed: seed))
      while !isStopAsked() { try changes.trying { changes throws(VaultError) in try changes.change() } }
      try changes.trying { changes throws(VaultError) in
        if !changes.core.hasPasscode { try changes.core.setPasscode(changes.typed()) }
      }
      for member in ["left", "right"] {
        try changes.trying { changes throws(VaultError) in
          try changes.changingSet { () throws(VaultError) in try changes.enroll(member) }
        }
      }
      say("end")
    } catch {
      say("ERROR \(error.word) \(error.message)")
      exit(1)
    }
  }

  private init(_ core: VaultCore, _ passcode: String, _ random: SeededRandom) {
    self.core = core
    self.passcode = passcode
    self.random = random
  }

  /// After `.busy` nothing was changed: prints it, so that the test counts it, and tries again.
  private func trying(_ body: (KeyChanges) throws(VaultError) -> Void) throws(VaultError) {
    while true {
      do throws(VaultError) { return try body(self) } catch  where error.code == .busy {
        say("busy \(error.message)")
      }
    }
  }

  private func typed() throws(VaultError) -> Passcode { try Passcode(testing: passcode) }

  private func change() throws(VaultError) {
    let choice = random.below(10)
    if choice == 0 {
      if core.hasPasscode { try core.rotateEpoch(passcode: typed()) } else { try core.rotateEpoch() }
      say("rotated epoch")
    } else if choice == 1 {
      try core.rotateDeviceKey()
      say("rotated device-key")
    } else if !core.hasPasscode {
      try core.setPasscode(typed())
      say("set")
    } else if choice < 6 {
      try changeSet()
    } else if choice < 8 {
      try core.changePasscode(from: typed(), to: typed())
      say("changed")
    } else {
      for item in try core.removePasscode(typed()).items { say("destroyed \(item.id.hexadecimal)") }
      say("removed")
    }
  }

  private func changeSet() throws(VaultError) {
    let members = try core.enrolledMembers().map(\.name)
    try changingSet { () throws(VaultError) in
      if members.isEmpty || members.count < 3 && random.below(2) == 0 {
        number += 1
        try enroll("m\(number)")
      } else {
        try core.removeMember(named: members[random.below(members.count)])
      }
    }
  }

  private func enroll(_ name: String) throws(VaultError) {
    _ = try core.enroll(BiometricPhrase(testing: name), named: name, passcode: typed())
  }

  /// Lists the items behind the set, then changes the set. Between list and change, the other process may add more
  /// such items.
  private func changingSet(_ body: () throws(VaultError) -> Void) throws(VaultError) {
    let start = microseconds()
    let dying = try core.itemsBehindCurrentSet()
    do throws(VaultError) { try body() } catch  where error.code == .busy {
      // The error may come from a step after the commit, so the listed items may be destroyed all the same.
      for item in dying { say("behind \(item.id.hexadecimal)") }
      say("changed-set \(start) \(microseconds())")
      throw error
    }
    for item in dying { say("behind \(item.id.hexadecimal)") }
    say("changed-set \(start) \(microseconds())")
  }
}

/// The time since boot, the same clock for all processes.
private func microseconds() -> UInt64 {
  var time = timespec()
  unsafe clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1_000
}

/// Gives one passcode to the vault. Every key derivation adds one byte to a file (R5).
enum Unlocking {
  /// - Parameter stops: Whether it waits in the derivation until the test kills it.
  static func run(_ rig: Rig, passcode: String, tally: String, stops: Bool) {
    var rig = rig
    rig.environment.derivationObserver = Tally.observer(tally, stops: stops)
    do throws(VaultError) {
      let core = try rig.open()
      waitForStart()
      try core.unlock(with: Passcode(testing: passcode))
      say("unlocked")
    } catch {
      say("refused \(error.word)")
    }
  }
}

/// Opens a secret and waits, with the vault open or closed, until standard input ends (R7).
enum Holding {
  static func run(_ rig: Rig, name: String, isClosed: Bool) {
    do throws(VaultError) {
      var core: VaultCore? = try rig.open()
      let count = try read(core!, name: name)
      if isClosed { core = nil }
      say("holding \(count)")
      waitForStart()
      core = nil
    } catch {
      say("ERROR \(error.word) \(error.message)")
      exit(1)
    }
  }

  private static func read(_ core: VaultCore, name: String) throws(VaultError) -> Int {
    let secret = try core.secret(of: core.item(named: name).id)
    return secret.expose { $0.byteCount }
  }
}
