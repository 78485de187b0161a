import CPeers
import Glibc
import VaultKit

/// What `scripts/bench` needs besides races.
enum Commands {
  /// `make FOLDER COUNT [PASSCODE]`: a vault for whole commands.
  static func make(_ words: [String]) {
    guard words.count >= 2, let count = Int(words[1]) else { usage("make FOLDER COUNT [PASSCODE]") }
    _ = BenchmarkVault(in: words[0], count: count, passcode: words.count > 2 ? words[2] : nil)
  }

  /// `make-pins FOLDER COUNT`: in such a vault without a passcode, both PINs and a credential behind each.
  static func makePINs(_ words: [String]) {
    guard words.count == 2, let count = Int(words[1]) else { usage("make-pins FOLDER COUNT") }
    let vault = BenchmarkVault(in: words[0], count: count)
    for mode in PINMode.allCases { vault.makePIN(mode, accounts: 1) }
  }

  /// `make-transactions FOLDER COUNT`: a vault with so many transactions that wait.
  static func makeTransactions(_ words: [String]) {
    guard words.count == 2, let count = Int(words[1]) else { usage("make-transactions FOLDER COUNT") }
    BenchmarkVault(in: words[0], count: 0).receiveTransactions(count)
  }

  /// `write SECONDS`: makes durable codes of one credential for this time; prints how many.
  static func write(_ words: [String], in folder: String) {
    guard let seconds = words.first.flatMap(Double.init) else { usage("write SECONDS") }
    let code = BenchmarkVault(in: folder + "/vault-1000", count: 1000).hotp()
    let end = peer_now_ns() + seconds * 1e9
    var count = 0
    while peer_now_ns() < end {
      code.run(1)
      count += 1
    }
    print(count)
  }

  /// `trace OPERATION COUNT`: runs the operation between two marks for a tracer, after everything that happens only once.
  static func trace(_ words: [String], in folder: String) {
    guard words.count == 2, let count = Int(words[1]) else { usage("trace OPERATION COUNT") }
    let passcode = words[0] == "unlock" ? "correct horse" : nil
    let vault = BenchmarkVault(
      in: folder + (passcode == nil ? "/trace" : "/trace-locked"), count: 1000, passcode: passcode)
    let operations: [String: () -> Workload] = [
      "hotp": vault.hotp, "put": vault.put, "get": vault.getAlone, "get-in-snapshot": vault.getInSnapshot,
      "hotp-checked": { vault.hotp(behind: .checked) },
      "hotp-camouflaged": { vault.hotp(behind: .camouflaged) },
      "list": vault.list, "transaction-accept": vault.accept, "transaction-list": vault.transactions,
      "unlock": { vault.unlock("correct horse") },
    ]
    guard let operation = operations[words[0]]?() else { usage("one of \(operations.keys.sorted())") }
    operation.run(count)
    peer_mark()
    operation.run(count)
    peer_mark()
  }

  private static func usage(_ text: String) -> Never {
    Report.note("vault-bench: \(text)")
    exit(2)
  }
}
