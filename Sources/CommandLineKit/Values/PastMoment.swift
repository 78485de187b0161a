/// A moment that is over, as it is typed: an instant, or how long ago.
package enum PastMoment: Sendable {
  case at(seconds: Int64)
  case ago(seconds: Int64)

  /// Seconds since 1970.
  package func seconds(now: Int64) -> Int64 {
    switch self {
    case .at(let seconds): seconds
    case .ago(let seconds): now - seconds
    }
  }
}
