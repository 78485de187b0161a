/// One time step and how long it lasts.
public struct TimeStep: Sendable, Hashable {
  /// The moving factor of the code (RFC 6238 calls it T).
  public let number: UInt64
  /// The first second of the step, Unix time.
  public let validFrom: Int64
  /// The first second after the step, Unix time; `Int64.max` for a step that ends later.
  public let validTo: Int64
  /// Seconds until the step ends, 1 to the period.
  public let remaining: Int64
}
