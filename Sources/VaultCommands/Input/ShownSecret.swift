import CommandLineKit
import SecretMemory
import VaultKit
import VaultWords

/// A secret, and whether it was given or typed, for the log.
struct ShownSecret: Sendable {
  let box: SharedSecret
  let shown: Shown

  /// A new passcode made from the secret. Each passcode can be used once.
  func passcode() throws(VaultError) -> Passcode { try Passcode(box.copy(), shown: shown) }
}
