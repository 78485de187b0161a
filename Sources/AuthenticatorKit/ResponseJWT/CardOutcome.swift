/// How a challenge ended, as the answer says (`ActionCode`).
@nonexhaustive
public enum CardOutcome: String, Sendable, Hashable, CaseIterable {
  /// The person was recognized.
  case success = "SUCCESS"
  /// There was nothing to do.
  case noAction = "NOACTION"
  /// The person was not recognized, or there was no answer.
  case failure = "FAILURE"
  /// Something went wrong; the error number says what.
  case error = "ERROR"
  /// The person left.
  case cancel = "CANCEL"
  /// No answer came in time.
  case timeout = "TIMEOUT"

  /// Whether the answer is sent to the server of the merchant, which alone can verify it, and decides. All other outcomes end
  /// the payment here.
  public var isForServer: Bool { self == .success || self == .noAction }
}
