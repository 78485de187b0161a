/// When an item can be opened at all.
///
/// Enforced by key derivation: the data key is sealed under the class key of this accessibility.
@nonexhaustive
public enum Accessibility: UInt8, Sendable, CaseIterable {
  /// While the vault is unlocked. If a passcode is set, the class key opens with what the person types.
  case whenUnlocked = 1
  /// Also while the vault is locked: the device key alone opens it. The name is Apple's.
  case afterFirstUnlock = 2
  /// Like `whenUnlocked`, but only on this device. Removing the passcode destroys the item permanently.
  case whenPasscodeSet = 3
}
