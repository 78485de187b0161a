import Glibc
import SecretMemory
import VaultKit
import VaultTestKit

/// Changes keys once while a rotation of the epoch is under way. The test kills it at any moment (K3, K4).
enum Midway {
  static func run(in rig: Rig, change: String, passcode: String, code: String) {
    do throws(VaultError) {
      if change == "recover" {
        say("ready")
        _ = try VaultCore.recover(
          at: rig.path, with: RecoveryCode(text: SecretBytes(testing: code)), protector: rig.protector,
          environment: rig.environment)
      } else {
        let core = try rig.open()
        say("ready")
        switch change {
        case "passcode":
          try core.changePasscode(
            from: Passcode(testing: passcode), to: Passcode(testing: passcode + " changed"))
        case "device-key": try core.rotateDeviceKey()
        case "backup":
          try core.unlock(with: Passcode(testing: passcode))
          _ = try core.backUp(to: rig.folder + "/backup", passphrase: Passcode(testing: "p"))
        default: fail("no such change")
        }
      }
      say("done")
    } catch {
      say("ERROR \(error.word) \(error.message)")
      exit(1)
    }
  }
}
