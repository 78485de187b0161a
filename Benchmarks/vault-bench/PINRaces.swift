import CPeers
import VaultKit

/// P19: codes behind PINs, each beside what it cannot do without: a derivation, and two durable commits.
struct PINRaces {
  /// A directory on the disk to measure.
  let folder: String

  var all: [Race] { PINMode.allCases.map(race) }

  private func race(_ mode: PINMode) -> Race {
    let vault = BenchmarkVault(in: folder + "/pin-\(mode)", count: 1000)
    let plain = vault.hotp()
    // Past the first checkpoints, the log is overwritten.
    plain.run(600)
    let (memory, passes, lanes): (UInt32, UInt32, UInt32) = (64 << 10, 3, 4)
    let derivation = unsafe Contender.peer(peer_argon2(memory, passes, lanes))
    let inLargePages = unsafe Contender.peer(peer_argon2_huge(memory, passes, lanes))
    return Race(
      "pin-\(mode)", "HOTP behind a \(mode) PIN: 64 MiB, 3 passes, 4 lanes", unit: "code", rounds: 25,
      [
        ("libargon2", derivation.map { sum($0, plain) }),
        ("vault", .ours(vault.hotp(behind: mode), most: 1)),
        ("vault: without a PIN", .ours(plain, most: 1, as: "HOTP code without a PIN")),
        ("libargon2, large pages", inLargePages.map { sum($0, plain) }),
      ])
  }

  /// A derivation, and then two codes.
  private func sum(_ derivation: Contender, _ code: Workload) -> Contender {
    .sequence(derivation.name + " and two durable codes", of: [derivation.run, code.run, code.run])
  }

  // MARK: Counts

  /// P19 and P20: the commits and derivations of a code, and of a change of the PIN of more and more accounts, one line for
  /// each.
  func count() {
    for mode in PINMode.allCases {
      for accounts in [1, 100, 10_000] {
        let vault = BenchmarkVault(in: folder + "/pin-\(mode)-\(accounts)", count: 0)
        vault.makePIN(mode, accounts: accounts)
        if accounts == 1 {
          for isRight in [true, false] {
            let work = vault.code(behind: mode, isRight: isRight)
            say(isRight ? "code, right PIN" : "code, wrong PIN", mode, accounts, work)
          }
        }
        say("change", mode, accounts, vault.changePIN(mode))
      }
    }
  }

  private func say(_ what: String, _ mode: PINMode, _ accounts: Int, _ work: Work) {
    print(
      Report.object([
        ("what", Report.text(what)), ("mode", Report.text("\(mode)")), ("accounts", "\(accounts)"),
        ("commits", "\(work.commits)"), ("derivations", "\(work.derivations)"),
      ]))
  }
}
