import VaultKit

/// How far the activation of a credential is. The guide *Credentials of a server* has the table of all transitions.
@nonexhaustive
public enum CredentialState: String, Sendable, CaseIterable {
  /// No server has activated it: it is used as it is.
  case none
  /// The server has accepted the first code.
  case started
  /// It makes codes.
  case active
  /// It makes no code until an unlock: the server has blocked it, or its PIN is blocked.
  case blocked
  /// The server has sent a code that ends the block.
  case unlockStarted
  /// It makes no code until a new activation.
  case disabled
}

/// Offset 112 of the state of its item.
extension CredentialState: Numbered { package static let firstNumber: UInt8 = 0 }
