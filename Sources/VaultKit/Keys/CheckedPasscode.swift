import SealedStorage
import VaultFormat
import VaultKeys
import VaultCrypto
import VaultStorage

/// The keys derived from a passcode that was right. If the passcode is changed in the meantime, their use is refused.
package struct CheckedPasscode: Sendable {
  let keys: PasscodeKeys
}
