/// How a code was accepted.
public struct OTPAcceptance: Sendable, Hashable {
  /// The counter or time step of the code; of the second one after a resynchronization.
  public let counter: UInt64
  /// How far that is from the counter or time step that was expected; negative for a clock that is behind.
  public let distance: Int64

  /// What a verifier reports.
  public init(counter: UInt64, distance: Int64) {
    self.counter = counter
    self.distance = distance
  }
}
