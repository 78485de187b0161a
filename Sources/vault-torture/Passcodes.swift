import Glibc
import SecretMemory
import VaultKit
import VaultTestKit

/// Adds items of all classes until told to stop, while another process changes the passcode (R21).
enum Adding {
  static func run(_ rig: Rig, passcode: String, seed: UInt64) {
    let random = SeededRandom(seed: seed)
    do throws(VaultError) {
      let core = try rig.open()
      var number = 0
      while !isStopAsked() {
        number += 1
        try add(core, "a\(seed)-\(number)", access(random), passcode)
      }
      say("end")
    } catch {
      say("ERROR \(error.word) \(error.message)")
      exit(1)
    }
  }

  private static func access(_ random: SeededRandom) -> AccessControl {
    let classes: [AccessControl] = [
      AccessControl(.whenUnlocked), AccessControl(.afterFirstUnlock), AccessControl(.whenPasscodeSet),
      AccessControl(.whenUnlocked, thisDeviceOnly: true),
      AccessControl(.afterFirstUnlock, thisDeviceOnly: true),
    ]
    return classes[random.below(classes.count)]
  }

  /// Locked means: unlock and go on. No passcode, or one just changed, means: not this one.
  private static func add(_ core: VaultCore, _ name: String, _ access: AccessControl, _ passcode: String)
    throws(VaultError)
  {
    do throws(VaultError) {
      let item = try core.add(
        NewItem(.genericPassword, name: name, access: access),
        secret: SecretBytes(testing: "secret of " + name))
      say("< \(item.id.hexadecimal) \(name)")
    } catch  where error.code == .locked {
      do throws(VaultError) { try core.unlock(with: Passcode(testing: passcode)) } catch
        where error.code == .policy || error.code == .busy
      {}
    } catch  where error.code == .policy {}
  }
}

/// Sets, changes and removes the passcode, rotates epoch and device key; lists what each removal destroyed (R21).
enum PasscodeChanges {
  static func run(_ rig: Rig, _ passcode: String, count: Int, seed: UInt64) {
    let random = SeededRandom(seed: seed)
    do throws(VaultError) {
      let core = try rig.open()
      var done = 0
      while done < count {
        try change(core, passcode, random)
        done += 1
      }
      say("end")
    } catch {
      say("ERROR \(error.word) \(error.message)")
      exit(1)
    }
  }

  private static func change(_ core: VaultCore, _ text: String, _ random: SeededRandom) throws(VaultError) {
    let choice = random.below(8)
    if choice == 0 {
      if core.hasPasscode {
        try core.rotateEpoch(passcode: Passcode(testing: text))
      } else {
        try core.rotateEpoch()
      }
      say("rotated epoch")
    } else if choice == 1 {
      try core.rotateDeviceKey()
      say("rotated device-key")
    } else if !core.hasPasscode {
      try core.setPasscode(Passcode(testing: text))
      say("set")
    } else if random.below(2) == 0 {
      try core.changePasscode(from: Passcode(testing: text), to: Passcode(testing: text))
      say("changed")
    } else {
      for item in try core.removePasscode(Passcode(testing: text)).items {
        say("destroyed \(item.id.hexadecimal)")
      }
      say("removed")
    }
  }
}

/// One passcode given to the vault; every key derivation adds one byte to a file (R5).
enum Unlocking {
  /// - Parameter more: Milliseconds since boot that the clock stands at, else the system's clock; then `slow` to
  ///   make each derivation long enough to be killed in.
  static func run(_ rig: Rig, passcode: String, tally: String, more: [String]) {
    var rig = rig
    let isSlow = more.contains("slow")
    let observer: @Sendable () -> Void = {
      let file = unsafe open(tally, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
      guard unsafe write(file, "d", 1) == 1 else { fail("the tally cannot be written") }
      close(file)
      if isSlow { usleep(20_000) }
    }
    if let boot = more.first.flatMap({ UInt64($0) }) {
      rig.environment = .testing(clock: FixedClock(boot: boot), derivationObserver: observer)
    } else {
      rig.environment = .testing(derivationObserver: observer)
    }
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

/// Opens a secret and stands still, with the vault open or closed, until standard input ends (R7).
enum Holding {
  static func run(_ rig: Rig, name: String, isClosed: Bool) {
    do throws(VaultError) {
      var core: VaultCore? = try rig.open()
      let count = try read(core!, name)
      if isClosed { core = nil }
      say("holding \(count)")
      waitForStart()
      core = nil
    } catch {
      say("ERROR \(error.word) \(error.message)")
      exit(1)
    }
  }

  private static func read(_ core: VaultCore, _ name: String) throws(VaultError) -> Int {
    let secret = try core.secret(of: core.item(named: name).id)
    return secret.expose { $0.byteCount }
  }
}
