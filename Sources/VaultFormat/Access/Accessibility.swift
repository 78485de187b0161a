/// When an item can be opened at all.
///
/// Enforced by key derivation: the data key is sealed under the class key of this accessibility.
public enum Accessibility: UInt8, Sendable, CaseIterable {
  /// While the vault is unlocked. With a passcode set its class key opens with what the person types.
  case whenUnlocked = 1
  /// Also while the vault is locked: the device key alone opens it. The name is Apple's.
  case afterFirstUnlock = 2
  /// As `whenUnlocked`, only on this device, and destroyed for good when the passcode is removed.
  case whenPasscodeSet = 3
}
