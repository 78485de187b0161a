/// A code and the step that it belongs to.
public struct TimedCode: Sendable, Hashable {
  /// The characters of the code.
  public let code: String
  /// When it is valid.
  public let step: TimeStep
}
