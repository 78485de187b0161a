public import VaultKit

// Read in this order:
//
// - `Biokey`, `NewBiokey` and `Biokeys`: what an application uses, on the actor `Vault`.
// - `VaultCore+Biokey.swift`: the same on the synchronous core. `VaultCore+ShowingBiokey.swift`: whether a use asks for
//   the PIN or for the biokey. `ShownBiokey`: what the commit of a use writes.
// - Below, in VaultFormat: `BiokeyRecord`. In VaultKit: `VaultCore+Biometry.swift`, which counts the failures.

/// A biokey: random bits that a biometric member opens in place of typing a checked PIN.
///
/// ```swift
/// let biokeys = Biokeys(of: pin)
/// let registered = try await biokeys.register(context: context)        // asks for the PIN
/// let code = try await credential.nextCode(context: context)           // asks for the phrase or the finger
/// ```
///
/// It uncovers what the PIN uncovers, so a code by biokey is the code by PIN at the same counter, and the PIN goes on to
/// work. Each PIN has one biokey on this device at most. Five failures lock it, apart from the attempts of the PIN, until
/// the PIN is right.
public struct Biokey: Sendable, Identifiable {
  /// Whom the biokey knows.
  @nonexhaustive
  public enum Members: Sendable, Hashable {
    /// Each member of the enrolled set, also one that is enrolled later.
    case any
    /// The enrolled set as it was at the registration: after a change of the set, the biokey never opens again.
    case currentSet
  }

  /// The item that stores it. A new registration makes another.
  public let id: ItemID
  /// The vault-wide name of the item.
  public let name: String?
  /// The PIN item whose PIN it replaces.
  public let pin: ItemID
  /// The name of that item; `nil` if the item is gone.
  public let pinName: String?
  /// The device, as the registration named it.
  public let device: String?
  /// When it was registered.
  public let registered: Instant
  /// Whom it knows.
  public let members: Members
  /// How many more failures lock it; 0 if it is locked until a right PIN.
  public let attemptsLeft: Int
  /// Whether the enrolled set has changed, so that it never opens again. The PIN goes on to work.
  public let isInvalidated: Bool

  /// Whether it is locked until a right PIN.
  public var isLocked: Bool { attemptsLeft == 0 }
}
