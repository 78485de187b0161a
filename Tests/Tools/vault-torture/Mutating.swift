import AuthenticatorKit
import Glibc
import OneTimePassword
import VaultKit
import VaultTestKit

/// Alters a vault in many ways, one after the other, and judges the content that still opens (R8).
///
/// Prints `begin NUMBER KIND` before each mutant and the outcome after it, so that a crash can be assigned to its
/// mutant.
enum Mutating {
  /// - Parameter passcode: One passcode, or several separated by commas. One of them opens each state. Empty for no
  ///   passcode.
  static func run(_ rig: Rig, seed: UInt64, passcode: String, from: Int, to: Int) {
    let states = Content.all(
      in: String(decoding: VaultFiles.read(rig.folder + "/states"), as: UTF8.self))
    guard !states.isEmpty else { fail("no states") }
    let whole = VaultFiles(at: rig.folder + "/whole")
    let shell = SQLShell()
    let (oldPath, cleanPath) = (rig.folder + "/old.vault", rig.folder + "/clean-\(getpid()).vault")
    VaultFiles(path: rig.path, database: whole.database, log: whole.log).write()
    SQLMutation.keep(rig.path, as: cleanPath, shell: shell)
    defer { unsafe unlink(cleanPath) }
    let judge = Judge(rig: rig, states: states, passcode: passcode)
    for number in from..<to {
      let random = SeededRandom(seed: seed &* 1_000_003 &+ UInt64(number))
      let mutation = Mutation.allCases[number % Mutation.allCases.count]
      var files = VaultFiles(path: rig.path, database: whole.database, log: whole.log)
      say("begin \(number) \(mutation.rawValue)")
      var isChanged = mutation.apply(to: &files, random)
      var rowOfSecret: Int64?
      files.write()
      if !isChanged {
        let edit = SQLMutation(
          shell: shell, path: rig.path, oldPath: oldPath, cleanPath: cleanPath, random: random)
        isChanged = edit.apply(mutation)
        rowOfSecret = edit.rowOfSecret
      }
      rig.forgetCommits()
      let outcome = judge.judge(mutation, isChanged: isChanged, rowOfSecret: rowOfSecret)
      say(outcome)
      // Leave a failed mutant in place for diagnosis.
      if outcome.hasPrefix("FAIL") { exit(1) }
    }
  }
}

/// Opens a mutant, reads everything, verifies it, makes a code, and compares the content with every state that the
/// vault has had.
struct Judge {
  let rig: Rig
  let states: [Content]
  let passcode: String

  /// - Parameter rowOfSecret: The item of which only the sealed secret was edited, and not its tag. Behind an access rule, a PIN
  ///   or a session, `verify` cannot open it, and the sum has its tag alone: such an edit is found when the secret is used.
  func judge(_ mutation: Mutation, isChanged: Bool, rowOfSecret: Int64?) -> String {
    let core: VaultCore
    do throws(VaultError) { core = try rig.open() } catch { return "refused \(error.word)" }
    let sight = Sight(states: states, mutation: mutation)
    sight.note { () throws(VaultError) in try sight.see(status: Content.status(core)) }
    if core.hasPasscode { sight.note { () throws(VaultError) in try core.unlock(withOneOf: passcode) } }
    sight.note { () throws(VaultError) in try sight.see(items: core.items(matching: Query()), core) }
    sight.note { () throws(VaultError) in
      let report = try core.verify()
      if !report.problems.isEmpty || !report.newer.isEmpty { sight.isFound = true }
    }
    sight.endOfItems()
    if mutation.isOfRows, isChanged, !sight.isFound, !isGuarded(rowOfSecret, in: core) {
      return "FAIL \(mutation.rawValue) is not found"
    }
    if let failure = sight.failure { return "FAIL \(mutation.rawValue): \(failure)" }
    sight.note { () throws(VaultError) in try sight.see(code: core) }
    if let failure = sight.failure { return "FAIL \(mutation.rawValue): \(failure)" }
    if sight.isFound { return "found" }
    return sight.possible.contains(states.count - 1) ? "same" : "earlier"
  }

  private func isGuarded(_ row: Int64?, in core: VaultCore) -> Bool {
    let item = (try? core.items(matching: Query()))?.first { $0.row == row }
    return (try? item?.policy.isWrapped()) == true
  }
}

/// The observations of a mutant: which states of the vault they agree with, and whether the library refused
/// something.
final class Sight {
  let states: [Content]
  let mutation: Mutation
  /// The states that agree with all observations.
  private(set) var possible: [Int]
  /// Whether a call threw, or `verify` found a problem.
  var isFound = false
  private(set) var failure: String?
  private var ids: [String] = []

  init(states: [Content], mutation: Mutation) {
    self.states = states
    self.mutation = mutation
    // A damaged log ends earlier, so the whole vault may be in an earlier state. Altered rows must not bring back an
    // earlier one.
    possible = mutation.isOfRows ? [states.count - 1] : Array(states.indices)
  }

  func note(_ body: () throws(VaultError) -> Void) {
    do throws(VaultError) { try body() } catch { isFound = true }
  }

  func see(status: String) {
    narrow("status \(status)") { $0.status == status }
  }

  func see(items: [Item], _ core: VaultCore) throws(VaultError) {
    for item in items {
      note { () throws(VaultError) in
        let entry = try Content.entry(of: item, in: core)
        ids.append(entry.id)
        see(entry)
      }
    }
  }

  /// An item that is missing or out of order is a silent change, unless an error or `verify` reported it.
  func endOfItems() {
    if !isFound { narrow("the list of items") { $0.items.map(\.id) == ids } }
  }

  /// An entry must match an entry of one state. An error in place of its secret is acceptable.
  private func see(_ entry: Content.Entry) {
    func agrees(_ state: Content) -> Bool {
      state.items.contains {
        $0.id == entry.id && $0.open == entry.open
          && ($0.secret == entry.secret || entry.secret.hasPrefix("!"))
      }
    }
    if entry.secret.hasPrefix("!"), !states.contains(where: { $0.items.contains(entry) }) { isFound = true }
    // An old row opens with its old content. ``Judge`` checks that `verify` finds it.
    if mutation.isOld {
      if !states.contains(where: agrees) {
        failure = "item \(entry.id) was never \(entry.open) \(entry.secret)"
      }
      return
    }
    narrow("item \(entry.id) \(entry.open) \(entry.secret)", agrees)
  }

  /// The next code must use the counter that the vault showed, or the call must throw.
  func see(code core: VaultCore) throws(VaultError) {
    let credential: OTPDescription
    do throws(VaultError) { credential = try core.describeOTP(named: "counter") } catch {
      credential = try core.describeOTP(named: "hotp 1")
    }
    let result = try core.nextHOTPCode(of: credential.item.id)
    guard case .counter(let counter) = result.factor else { return failure = "a code without counter" }
    if counter != credential.state.counter { failure = "a code of counter \(counter)" }
    try see(signatureOf: core)
  }

  /// The same for a credential with a suite. The vaults that verbs made have none.
  private func see(signatureOf core: VaultCore) throws(VaultError) {
    guard let signer = try? core.describeOCRA(named: "ocra 1") else { return }
    let question: OCRAQuestion
    do throws(OTPError) { question = try OCRAQuestion("00", for: signer.suite) } catch {
      throw VaultError(otp: error)
    }
    let result = try core.signOCRA(OCRARequest(question), with: signer.item.id)
    if result.counter != signer.state.counter { failure = "a signature of another counter" }
  }

  private func narrow(_ what: String, _ agrees: (Content) -> Bool) {
    let left = possible.filter { agrees(states[$0]) }
    if left.isEmpty { failure = failure ?? "no state of the vault had \(what)" } else { possible = left }
  }
}
