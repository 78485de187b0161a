/// A task to time: `run(n)` does the task n times.
///
/// Each function here returns a workload of ours; the races beside this folder run it, with those of the peers in `CPeers`, and take the
/// time. Read in this order:
///
/// - `Workload.swift`: ``Workload``, the loop, and ``Box``, which holds a key for it.
/// - ``BenchmarkVault`` makes a vault of a given size: codes, put, get, list, open and unlock.
///   `BenchmarkVault+PIN.swift`: codes behind PINs, and what a PIN costs in commits and derivations.
///   `BenchmarkVault+Transactions.swift`: transactions of a server, accepted and listed.
///   `BenchmarkVault+Tokens.swift`: proofs of possession, and tokens that are taken.
/// - ``SealWorkloads``: the seals, the cipher that they use, and random bytes.
/// - ``KeyWorkloads``: Argon2id, HKDF and signatures.
/// - ``OTPWorkloads``: searches for a code with each kind of lanes.
struct Workload {
  /// The name of the task.
  let name: String
  /// Does the task this many times.
  let run: (Int) -> Void

  init(_ name: String, _ once: @escaping () throws -> Void) {
    self.name = name
    run = { count in must { for _ in 0..<count { try once() } } }
  }

  /// The same task, grouped: one run makes `times` calls, and each call does the task `count` times.
  func repeated(_ times: Int, of count: Int) -> Workload {
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
final class Box<Value: ~Copyable> {
  /// The value.
  let value: Value
  /// A box that takes ownership of a value.
  init(_ value: consuming Value) { self.value = value }
}
