import Synchronization

/// Counts from several threads.
final class Failures: Sendable {
  private let all = Atomic<Int>(0)

  func add() { all.add(1, ordering: .sequentiallyConsistent) }

  var count: Int { all.load(ordering: .sequentiallyConsistent) }
}
