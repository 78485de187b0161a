package import VaultKit

/// What the policy of an item says about a PIN. The policy is bound to the item's keys, so it can decide.
extension Item {
  /// Whether the secret can only be used with a PIN.
  package var isBehindPIN: Bool { policy.guardingPINItem != nil }

  /// The camouflaged PIN item that it is behind; `nil` without one.
  package var camouflagedPIN: ItemID? {
    guard let pin = policy.understood?.pin, pin.mode == .camouflaged else { return nil }
    return pin.item
  }
}
