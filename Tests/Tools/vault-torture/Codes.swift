import AuthenticatorKit
import Glibc
import VaultKit

/// Makes many codes of one credential, each in one transaction (R4).
enum Codes {
  static func run(_ rig: Rig, name: String, count: Int) {
    waitForStart()
    do throws(VaultError) {
      let core = try rig.open()
      let id = try core.item(named: name).id
      for _ in 0..<count {
        let result = try core.nextHOTPCode(of: id)
        guard case .counter(let counter) = result.factor else { fail("no counter") }
        say("\(counter) \(result.code)")
      }
    } catch {
      say("ERROR \(error.word) \(error.message)")
      exit(1)
    }
  }
}

/// Gives one code to a verifier (F5).
enum Submit {
  static func run(_ rig: Rig, name: String, code: String) {
    do throws(VaultError) {
      let core = try rig.open()
      let id = try core.item(named: name).id
      waitForStart()
      _ = try core.verifyOTP(of: id, code: code)
      say("accepted")
    } catch {
      say("refused \(error.word)")
    }
  }
}
