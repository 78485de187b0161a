/// Something to be timed: `run(n)` does it n times. The loop is in here so that no call between packages is timed.
public struct Workload {
  /// What is done once.
  public let name: String
  /// Does it this many times.
  public let run: (Int) -> Void

  init(_ name: String, _ once: @escaping () throws -> Void) {
    self.name = name
    run = { count in must { for _ in 0..<count { try once() } } }
  }

  /// The same, where one run is `times` calls for `count` of them each.
  public func repeated(_ times: Int, of count: Int) -> Workload {
    Workload(name, many: { [run] runs in for _ in 0..<runs * times { run(count) } })
  }

  init(_ name: String, many: @escaping (Int) throws -> Void) {
    self.name = name
    run = { count in must { try many(count) } }
  }
}

/// A benchmark that fails has nothing to say: it stops with the error.
func must<R: ~Copyable>(_ body: () throws -> R) -> R {
  do { return try body() } catch { fatalError("benchmark: \(error)") }
}

/// Holds what cannot be copied for closures that outlive a call.
public final class Box<Value: ~Copyable> {
  /// What it holds.
  public let value: Value
  /// Takes what it holds.
  public init(_ value: consuming Value) { self.value = value }
}
