import AuthenticatorKit
import Glibc
import SecretMemory
import VaultKit
import VaultTestKit

/// Takes a token once, when the test lets all processes go (R10).
enum TakingTokens {
  static func run(_ rig: Rig, name: String) {
    do throws(VaultError) {
      let core = try rig.open()
      let id = try core.item(named: name).id
      say("ready")
      waitForStart()
      let token = try core.takeToken(id)
      say("taken \(hexadecimal(token.bytesForTesting))")
    } catch {
      say("refused \(error.word)")
    }
  }
}
