import Glibc
import SecretMemory
import VaultKit
import VaultTestKit

/// Rotates the epoch again and again until it is killed (R22).
enum Rotating {
  static func run(_ rig: Rig, passcode: String) {
    do throws(VaultError) {
      let core = try rig.open()
      say("ready")
      while true {
        if passcode.isEmpty {
          try core.rotateEpoch()
        } else {
          try core.rotateEpoch(passcode: Passcode(testing: passcode))
        }
        say("rotated \(try core.status().generation)")
      }
    } catch {
      say("ERROR \(error.word) \(error.message)")
      exit(1)
    }
  }
}

/// Reads items at random until told to stop, opening the vault anew now and then (R22).
enum Watching {
  static func run(_ rig: Rig, passcode: String, count: Int, seed: UInt64) {
    let random = SeededRandom(seed: seed)
    do throws(VaultError) {
      var reads = 0
      while !isStopAsked() {
        let core = try rig.open()
        for _ in 0..<100 where !isStopAsked() {
          try read(core, "n\(random.below(count))", passcode)
          reads += 1
        }
      }
      say("end \(reads)")
    } catch {
      say("ERROR \(error.word) \(error.message)")
      exit(1)
    }
  }

  /// New keys of a class behind the passcode need it again.
  private static func read(_ core: VaultCore, _ name: String, _ passcode: String) throws(VaultError) {
    for _ in 0..<20 {
      do throws(VaultError) {
        let secret = try core.secret(of: core.item(named: name).id)
        guard secret.bytesForTesting == Array("secret of \(name)".utf8) else {
          fail("\(name) holds another secret")
        }
        return
      } catch  where error.code == .locked {
        try core.unlock(with: Passcode(testing: passcode))
      }
    }
    fail("\(name) is locked again and again")
  }
}
