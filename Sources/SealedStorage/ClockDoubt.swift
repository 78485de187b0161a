/// How the wall clock differs from the recorded time of the vault.
package enum ClockDoubt: Sendable, Equatable {
  /// It is ahead, so items that have expired by it are kept.
  case isAhead
  /// It is behind, so items expire by the recorded time.
  case isBehind
}
