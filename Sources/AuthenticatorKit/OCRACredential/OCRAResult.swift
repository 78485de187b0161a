/// A code for a question, and what it was made from.
public struct OCRAResult: Sendable, Equatable {
  /// The name of the credential.
  public let name: String
  /// The code. It is not secret from now on.
  public let code: String
  /// The counter of this code; `nil` for a suite without `C`. The next code has another one.
  public let counter: UInt64?
  /// The seconds since 1970 in which the code has its time step; `nil` for a suite without `T`.
  public let validity: Range<Int64>?
  /// What the program should tell the person, besides the code.
  public internal(set) var notices: [OTPResult.Notice] = []
}
