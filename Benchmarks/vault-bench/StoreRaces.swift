import CPeers
import Dispatch
import Glibc
import SecretMemory
import VaultKit

/// P8, P9, P10, P12, P16 and L5: what reaches the disk, what is read, and what a call costs, also beside a prompt.
struct StoreRaces {
  /// A directory on the disk to measure.
  let folder: String
  /// The sizes of the vaults that are read.
  let sizes: [Int]

  var all: [Race] { durable + reading + [unlocking, calls, besideAPrompt] }

  /// Each slice is one durable write, so the figures are of single ones.
  var durable: [Race] {
    let recycled = BenchmarkVault(in: folder + "/durable", count: 1000)
    // Past the first checkpoints, the log is overwritten.
    recycled.hotp().run(600)
    let growing = BenchmarkVault(in: folder + "/growing", count: 1000)
    let enrolled = BenchmarkVault(in: folder + "/enrolled", count: 1000)
    return [
      Race(
        "durable-hotp", "Durable HOTP, log recycled", unit: "code", rounds: 401,
        [
          ("fdatasync", unsafe .peer(peer_fdatasync(folder, 0), most: 1)),
          ("vault", .ours(recycled.hotp(), most: 1)),
          ("SQLite, three rows", unsafe .peer(peer_sqlite_rows(folder), most: 1)),
          ("SQLite", unsafe .peer(peer_sqlite_put(folder, 0), most: 1)),
          ("LMDB", unsafe .peer(peer_lmdb_put(folder), most: 1)),
        ]),
      Race(
        "durable-put", "Durable put, four indexed attributes, log recycled", unit: "item", rounds: 401,
        [
          ("fdatasync", unsafe .peer(peer_fdatasync(folder, 0), most: 1)),
          ("vault", .ours(recycled.put(), most: 1)),
          ("SQLite, the same rows", unsafe .peer(peer_sqlite_put_rows(folder), most: 1)),
          ("SQLite", unsafe .peer(peer_sqlite_put(folder, 0), most: 1)),
          ("LMDB", unsafe .peer(peer_lmdb_put(folder), most: 1)),
        ]),
      // P21: a token is taken by two rows more than a code has.
      Race(
        "durable-token", "Take a card token, log recycled", unit: "token", rounds: 401,
        [
          ("durable code", Contender("a durable HOTP code", most: 1, recycled.hotp().run)),
          ("vault", .ours(recycled.takeToken(), most: 1)),
        ]),
      Race(
        "dpop-p256", "DPoP proof, P-256, key held open", unit: "proof",
        [("OpenSSL", unsafe .peer(peer_sign_p256())), ("vault", .ours(recycled.proof()))]),
      // Few rounds: the log grows until the first checkpoint only.
      Race(
        "growing-hotp", "Durable HOTP, log growing", unit: "code", rounds: 101,
        [
          ("fdatasync, appended", unsafe .peer(peer_fdatasync(folder, 1), most: 1)),
          ("vault", .ours(growing.hotp(), most: 1)),
          ("SQLite", unsafe .peer(peer_sqlite_put(folder, 1), most: 1)),
        ]),
      Race(
        "reserved-hotp", "HOTP, 32 counters reserved by one durable write", unit: "code", rounds: 201,
        [
          ("fdatasync", unsafe .peer(peer_fdatasync(folder, 0), most: 1)),
          ("vault", .ours(recycled.reservedHOTP().repeated(1, of: 32), units: 32, most: 1)),
        ]),
      Race(
        "put-many", "Put, 1,000 in one transaction", unit: "item", rounds: 5,
        [("vault", .ours(recycled.putMany().repeated(1, of: 1000), units: 1000, most: 1))]),
      Race(
        "enroll-many", "Enroll 10,000 credentials in one transaction", unit: "credential", rounds: 5,
        [
          ("vault", .ours(enrolled.enrollMany().repeated(1, of: 10_000), units: 10_000, most: 1)),
          (
            "vault: put", .ours(enrolled.putManyCredentials().repeated(1, of: 10_000), units: 10_000, most: 1)
          ),
        ]),
      Race(
        "put-json", "Put into a sealed JSON file of 10,000 items", unit: "item", rounds: 9,
        [
          ("sealed JSON", unsafe .peer(peer_json_put(folder, 10_000), most: 1)),
          ("vault", .ours(recycled.put(), most: 1)),
        ]),
    ]
  }

  private func vault(_ size: Int) -> String { folder + "/vault-\(size)" }

  var reading: [Race] {
    sizes.flatMap { size -> [Race] in
      let vault = BenchmarkVault(in: vault(size), count: size)
      let file = self.vault(size) + "/data/bench.vault"
      let label = size == 1_000_000 ? "1,000,000" : "100,000"
      let count = size + 2
      return [
        Race(
          "get-\(size)", "Get one of \(label) by name", unit: "item", rounds: 21,
          [
            ("SQLite alone", unsafe .peer(peer_row_by_name(file, size))?.warmed(size)),
            ("vault", .ours(vault.getInSnapshot()).warmed(size)),
            ("vault, alone", .ours(vault.getAlone()).warmed(size)),
            ("LMDB", unsafe .peer(peer_lmdb_get(folder, size))?.warmed(size)),
            ("its opening", unsafe .peer(peer_record_open(150, 199))),
          ]),
        Race(
          "secret-\(size)", "Get one of \(label) with its secret", unit: "item", rounds: 21,
          [
            ("SQLite alone", unsafe .peer(peer_rows_with_material(file, size))?.warmed(size)),
            ("vault", .ours(vault.secretInSnapshot()).warmed(size)),
            ("two committing openings", unsafe .peer(peer_committing(33, 130, 1, 0))),
          ]),
        // The tokens of a client are two items, and are read without a constraint, as P9 reads.
        Race(
          "token-set-\(size)", "Read the tokens of a client, of \(label) items", unit: "set", rounds: 21,
          [
            ("secrets", Contender("two secrets, each alone", vault.twoSecrets().run)),
            ("vault", .ours(vault.tokenSet())),
          ]),
        Race(
          "list-\(size)", "List \(label) with their attributes", unit: "item", rounds: size > 100_000 ? 3 : 9,
          [
            ("C", unsafe .peer(peer_rows_scan_open(file), units: Double(count), most: 1)),
            ("vault: list", .ours(vault.list(), units: Double(count), most: 1)),
            ("vault: scan", .ours(vault.scan(), units: Double(count), most: 1)),
            ("SQLite alone", unsafe .peer(peer_rows_scan(file), units: Double(count), most: 1)),
          ]),
      ]
    }
  }

  /// The same costs as a real passcode's, in one race with the library's own.
  var unlocking: Race {
    let vault = BenchmarkVault(in: folder + "/locked", count: 10, passcode: "correct horse")
    return Race(
      "unlock", "Unlock by passcode: 64 MiB, 3 passes, 4 lanes", unit: "unlock", rounds: 15,
      [
        ("libargon2", unsafe .peer(peer_argon2(64 << 10, 3, 4), most: 1)),
        ("vault", .ours(vault.unlock("correct horse"), most: 1)),
        (
          "vault: derivation",
          .ours(
            KeyWorkloads.argon2id(memoryKiB: 64 << 10, iterations: 3, parallelism: 4), most: 1,
            as: "the derivation alone")
        ),
        ("libargon2, large pages", unsafe .peer(peer_argon2_huge(64 << 10, 3, 4), most: 1)),
      ])
  }

  var calls: Race {
    let vault = BenchmarkVault(in: folder + "/calls", count: 10)
    return Race(
      "call", "One call", unit: "call",
      [
        ("core", .ours(vault.question())),
        (
          "actor",
          Contender("vault: through the actor") { [actor = vault.vault] count in
            wait { for _ in 0..<count { _ = await actor.question() } }
          }
        ),
      ])
  }

  /// Reads of one secret through the actor. In the second vault, a prompt is open all the time.
  var besideAPrompt: Race {
    let prompt = OpenPrompt()
    return Race(
      "open-prompt", "Read a secret through the actor", unit: "read",
      [
        ("no prompt", reading("no prompt", in: folder + "/quiet")),
        ("vault", reading("vault: a prompt is open", in: folder + "/asking", beside: prompt)),
      ])
  }

  private func reading(_ name: String, in folder: String, beside prompt: OpenPrompt? = nil) -> Contender {
    let vault = BenchmarkVault(in: folder, count: 10, passcode: "correct horse")
    vault.unlock("correct horse").run(1)
    let actor = vault.vault
    if let prompt {
      let context = AuthenticationContext(reason: "", prompt: prompt)
      Task.detached { _ = try? await actor.evaluate(.devicePasscode, context: context) }
      prompt.waitUntilOpen()
    }
    return Contender(name) { count in
      wait {
        do {
          let id = try await actor.read { transaction in
            try transaction.item(named: BenchmarkVault.name(0)).id
          }
          for _ in 0..<count { _ = try await actor.secret(of: id) }
        } catch {
          // A contender has no way to fail, and the time of a failed read says nothing.
          fatalError("benchmark: \(error)")
        }
      }
    }
  }
}

/// A prompt that nobody answers.
private final class OpenPrompt: Prompt {
  private let isOpen = DispatchSemaphore(value: 0)

  func waitUntilOpen() { isOpen.wait() }

  func readSecret(_ request: PromptRequest) throws(VaultError) -> SecretBytes {
    isOpen.signal()
    while true { sleep(3600) }
  }

  func confirm(_ request: PromptRequest) throws(VaultError) -> Bool { false }
}
