public import VaultKit

/// The proof of a right PIN.
public struct VerifiedPIN: Sendable, Equatable {
  /// The PIN item whose PIN was shown.
  public let item: ItemID
  /// Whether the file had been copied or restored since the last PIN, so that its count of wrong PINs may be too low. In a
  /// vault with a passcode, the person has shown the passcode too.
  public let wasMarked: Bool
}
