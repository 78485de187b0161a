import VaultKit

/// What became of a consent.
@nonexhaustive
public enum ConsentState: String, Sendable, CaseIterable {
  /// It waits for its code.
  case requested
  /// The code was right.
  case confirmed
  /// The code was wrong five times.
  case failed
  /// Its 300 seconds are over.
  case expired
  /// It was revoked, or its session was closed.
  case revoked
}

/// Offset 112 of the state of its item.
extension ConsentState: Numbered { package static let firstNumber: UInt8 = 0 }
