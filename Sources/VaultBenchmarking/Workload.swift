/// A task to time: `run(n)` does the task n times. The loop is in this module, so the time includes no call between
/// packages.
///
/// This is the front page of VaultBenchmarking, the parts of the library that `Benchmarks/` cannot time from outside.
/// SwiftPM shows a package only the products of another package, so this module is a product. It is never installed.
/// A public function returns a workload. The program in `Benchmarks/` runs it, takes the time and writes the report.
/// Read in this order:
///
/// - `Workload.swift`: ``Workload``, the loop, and ``Box``, which holds a key for it.
/// - ``BenchmarkVault`` makes a vault of a given size: codes, put, get, list, open and unlock.
///   `BenchmarkVault+PIN.swift`: codes behind PINs, and what a PIN costs in commits and derivations.
///   `BenchmarkVault+Transactions.swift`: transactions of a server, accepted and listed.
///   `BenchmarkVault+Tokens.swift`: proofs of possession, and tokens that are taken.
/// - ``SealWorkloads``: the seals, the cipher that they use, and random bytes.
/// - ``KeyWorkloads``: Argon2id, HKDF and signatures.
/// - ``OTPWorkloads``: searches for a code with each kind of lanes.
public struct Workload {
  /// The name of the task.
  public let name: String
  /// Does the task this many times.
  public let run: (Int) -> Void

  init(_ name: String, _ once: @escaping () throws -> Void) {
    self.name = name
    run = { count in must { for _ in 0..<count { try once() } } }
  }

  /// The same task, grouped: one run makes `times` calls, and each call does the task `count` times.
  public func repeated(_ times: Int, of count: Int) -> Workload {
    Workload(name, many: { [run] runs in for _ in 0..<runs * times { run(count) } })
  }

  init(_ name: String, many: @escaping (Int) throws -> Void) {
    self.name = name
    run = { count in must { try many(count) } }
  }
}

/// Stops the process with the error, because a benchmark that fails has no result.
func must<R: ~Copyable>(_ body: () throws -> R) -> R {
  do { return try body() } catch { fatalError("benchmark: \(error)") }
}

/// Holds a noncopyable value for escaping closures.
public final class Box<Value: ~Copyable> {
  /// The value.
  public let value: Value
  /// A box that takes ownership of a value.
  public init(_ value: consuming Value) { self.value = value }
}
