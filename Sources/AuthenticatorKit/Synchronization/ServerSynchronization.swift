/// What a synchronization has settled.
public struct ServerSynchronization: Sendable, Equatable {
  /// The counter of the next code; `nil` for a credential without a counter.
  public let counter: UInt64?
  /// What is added to the clock of this machine for codes that follow the time, in seconds.
  public let clockOffset: Int
  /// How many codes may be made until the next synchronization; `nil` for any number.
  public let offlineCodes: UInt32?
  /// How many seconds codes may be made until the next synchronization; `nil` for any time.
  public let offlineSeconds: UInt32?
  /// What became of decisions about transactions that the server did not have.
  public let notices: [OTPResult.Notice]
}
