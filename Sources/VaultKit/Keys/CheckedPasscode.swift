import SealedStorage
import VaultFormat
import VaultKeys
import VaultCrypto
import VaultStorage

/// A passcode that was right: what it was derived to. Where the passcode is changed meanwhile, its use is refused.
package struct CheckedPasscode: Sendable {
  let keys: PasscodeKeys
}
