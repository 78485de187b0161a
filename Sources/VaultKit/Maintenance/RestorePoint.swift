import DeviceKeys
import SealedStorage
import VaultFormat
import VaultKeys
import SecretMemory
import VaultCrypto
import VaultStorage

/// The items, counters and attempts of a vault that a restored one replaces.
package struct RestorePoint: Sendable {
  package let vault: VaultID
  /// Its items, in the order of insertion.
  package let items: [RestoredItem]
  let states: [ItemID: ItemState]
  let failures: VaultState
  /// How many commits the vault had.
  package let sequence: UInt64
  /// The recovery half of that vault.
  let recoveryHalf: [UInt8]?
  /// Whether the vault has no passcode, or it was unlocked or its recovery code was shown. Without that it is not replaced.
  let isAgreed: Bool
  /// How the passcode that was shown became a key; `nil` if none was shown.
  let shownPasscode: KeyDerivation?
}
