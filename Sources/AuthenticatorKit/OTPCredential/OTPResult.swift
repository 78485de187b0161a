/// A code and its context.
public struct OTPResult: Sendable, Equatable {
  /// What the code was generated from.
  @nonexhaustive
  public enum Factor: Sendable, Equatable {
    /// The counter of this code (RFC 4226). The next code has another one.
    case counter(UInt64)
    /// The first second in which the code is valid, the first in which it no longer is, both since 1970, and how
    /// many seconds are left (RFC 6238).
    case time(validFrom: Int64, validTo: Int64, remaining: Int64, isSteam: Bool)
  }
  /// What the program should tell the person, besides the code.
  @nonexhaustive
  public enum Notice: Sendable, Equatable {
    /// Since the server last confirmed a code, this many codes were made with a camouflaged PIN: the server may be behind,
    /// and a change of the PIN may be wrong. Said from the fifth code on, whatever the PIN.
    /// ``OTPCredential/confirm(context:)`` ends it; ``OTPCredential/setCounter(to:force:context:)`` sets the counter to the
    /// server's.
    case confirmationDue(codes: Int)
    /// The file had been copied or restored since the last PIN, so that its count of wrong PINs may be too low. In a vault
    /// with a passcode, the person has shown the passcode too.
    case pinWasMarked
    /// The peer has accepted the code, and the two sides are still out of step. ``OTPCredential/synchronize(over:context:)``
    /// ends it.
    case synchronizationFailed
    /// The server now has the decision about this transaction, which it did not have before.
    case decisionTold(alias: String)
    /// The server refused the decision about this transaction, which it did not have before. Ask there what became of it.
    case decisionRefused(alias: String)
    /// The server does not have the acceptance of this transaction yet, and its code is not stored: accept it again, with the
    /// PIN.
    case decisionNeedsPIN(alias: String)

    /// From how many codes on a confirmation is due.
    static let codesBeforeConfirmation: UInt32 = 5
  }
  /// The name of the credential.
  public let name: String
  /// The code. It is not secret from now on.
  public let code: String
  /// The number of characters of the code.
  public let digits: Int
  /// What the code was generated from.
  public let factor: Factor
  /// What the program should tell the person, besides the code.
  public internal(set) var notices: [Notice] = []
}
