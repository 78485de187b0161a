public import OneTimePassword
public import VaultKit

/// A credential with a suite, without its secret.
public struct OCRADescription: Sendable {
  /// The item.
  public let item: Item
  /// What a code is made of.
  public let suite: OCRASuite
  /// Prover or verifier.
  public let role: OTPRole
  /// How many further counters a verifier tries; for a suite with `T` alone how many steps to either side.
  public let window: UInt64
  /// The counter.
  public let state: ItemState
}
