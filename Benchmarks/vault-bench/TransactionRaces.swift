import CPeers
import VaultKit

/// P23 and P24: transactions of a server, accepted and listed. The server is in the same process.
struct TransactionRaces {
  /// A directory on the disk to measure.
  let folder: String
  /// The number of transactions in a list: more than a server sends to one person in the day for which they are kept.
  private let count = 1000

  var all: [Race] { [accepting, listing] }

  /// An acceptance beside what it cannot do without: a derivation, two durable commits, and the answer of the server.
  private var accepting: Race {
    let vault = BenchmarkVault(in: folder + "/accept", count: 1000)
    let plain = vault.hotp()
    // Past the first checkpoints, the log is overwritten.
    plain.run(600)
    let (memory, passes, lanes): (UInt32, UInt32, UInt32) = (64 << 10, 3, 4)
    let derivation = KeyWorkloads.argon2id(memoryKiB: memory, iterations: passes, parallelism: lanes)
    let libargon2 = unsafe Contender.peer(peer_argon2(memory, passes, lanes))
    return Race(
      "transaction-accept", "Accept a transaction behind a checked PIN: 64 MiB, 3 passes, 4 lanes",
      unit: "acceptance", rounds: 41,
      [
        ("libargon2", libargon2.map { sum($0.name, $0.run, plain) }),
        ("vault", .ours(vault.accept(), most: 1)),
        ("our derivation", sum("our derivation", derivation.run, plain)),
        ("vault: a code", .ours(vault.hotp(behind: .checked), most: 1)),
      ])
  }

  private func sum(_ name: String, _ derivation: @escaping (Int) -> Void, _ code: Workload) -> Contender {
    .sequence(
      name + ", two durable codes and the transport",
      of: [derivation, code.run, code.run, BenchmarkVault.transport().run])
  }

  /// A list of transactions beside a list of as many items.
  private var listing: Race {
    let items = BenchmarkVault(in: folder + "/as-many-items", count: count).list()
    let vault = BenchmarkVault(in: folder + "/transactions", count: 0)
    vault.receiveTransactions(count)
    return Race(
      "transaction-list-\(count)", "List \(count) transactions without their server", unit: "transaction",
      rounds: 41,
      [
        // With the two credentials of that vault.
        ("items", Contender("list of as many items", units: Double(count + 2), most: 1, items.run)),
        ("vault", .ours(vault.transactions(), units: Double(count), most: 1)),
        (
          "vault: as items",
          .ours(vault.list(), units: Double(count + 5), most: 1, as: "the same vault's items")
        ),
      ])
  }

  // MARK: Counts

  /// P23: the commits and derivations of an acceptance, one line for each.
  func countWork() {
    let vault = BenchmarkVault(in: folder + "/accept-counts", count: 0)
    for isRight in [true, false] {
      let work = vault.accepting(isRight: isRight)
      print(
        Report.object([
          ("what", Report.text(isRight ? "right PIN" : "wrong PIN")), ("commits", "\(work.commits)"),
          ("derivations", "\(work.derivations)"),
        ]))
    }
  }
}
