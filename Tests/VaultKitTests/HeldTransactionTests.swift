import Dispatch
import Glibc
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Transactions that are held", .bounded, .requirement("L7"))
struct HeldTransactionTests {
  private let place = TemporaryVault()

  private func names(_ core: VaultCore) throws -> [String] {
    try core.items(matching: Query()).compactMap(\.name)
  }

  /// Both objects: one that was given the store back with changes would show them, one whose file is still locked would wait.
  private func expectAlone(_ name: String, _ core: VaultCore) throws {
    try expect(names(core), equals: [name])
    let other = try VaultCore.open(at: place.path, protector: place.protector, environment: place.environment)
    try expect(names(other), equals: [name])
    let probe = try other.add(NewItem(.genericPassword, name: "probe"))
    var change = try core.beginWriting()
    try change.delete(probe.id)
    try change.commit()
    try expect(names(core), equals: [name])
  }

  @Test("what is not committed is rolled back at the end of the scope, and the next transaction begins")
  func dropped() throws {
    let core = try place.makeCore()
    _ = try core.add(NewItem(.genericPassword, name: "old"))
    do {
      var change = try core.beginWriting()
      _ = try change.add(NewItem(.genericPassword, name: "new"))
      try expect(change.items(matching: Query()).map(\.name), equals: ["old", "new"])
    }
    try expectAlone("old", core)
    var state = try core.beginReading()
    try expect(state.item(named: "old").name, equals: "old")
    state.end()
    try expectAlone("old", core)
  }

  private func add(
    _ name: String, to core: VaultCore, failing: Bool = false, leaving: Bool = false
  ) throws(VaultError) {
    var change = try core.beginWriting()
    _ = try change.add(NewItem(.genericPassword, name: name))
    if failing { throw VaultError(.policy, "not today") }
    if leaving { return }
    try change.commit()
  }

  @Test("an error or a return before the commit changes nothing; the commit makes the change")
  func early() throws {
    let core = try place.makeCore()
    try add("old", to: core)
    expect(.policy) { () throws(VaultError) in try add("new", to: core, failing: true) }
    try expectAlone("old", core)
    try add("new", to: core, leaving: true)
    try expectAlone("old", core)
    expect(.duplicateItem) { () throws(VaultError) in try add("old", to: core) }
    try expectAlone("old", core)
  }

  @Test("a commit that fails gives the store back, with nothing changed")
  func failedCommit() throws {
    let core = try place.makeCore()
    try add("old", to: core)
    let refusing = core.committing { _ throws(VaultError) in throw VaultError(.appCancelled, "refused") }
    expect(.appCancelled) { () throws(VaultError) in try add("new", to: refusing) }
    try expectAlone("old", core)
    #expect(refusing.takeDone().names.isEmpty)
    // Locked during the transaction by itself: at its end, which is also the end of one that fails.
    expect(.appCancelled) { () throws(VaultError) in
      var change = try refusing.beginWriting()
      _ = try change.add(NewItem(.genericPassword, name: "new"))
      refusing.lock()
      try change.commit()
    }
    try expectAlone("old", core)
  }

  @Test("a vault that its own transaction locks is locked at the end of it, committed or not")
  func lockedAtEnd() throws {
    let core = try place.makeCore(passcode: "1234")
    for commits in [true, false] {
      try core.unlock(with: Passcode(testing: "1234"))
      func change() throws(VaultError) {
        var change = try core.beginWriting()
        core.lock()
        #expect(core.hasOpenKeys)
        _ = try change.add(NewItem(.genericPassword, name: "made \(commits)"))
        if commits { try change.commit() }
      }
      try change()
      #expect(!core.hasOpenKeys)
    }
    try core.unlock(with: Passcode(testing: "1234"))
    try expect(names(core), equals: ["made true"])
  }

  @Test("threads hold the vault one after the other")
  func threads() throws {
    let core = try place.makeCore()
    let failure = Mutex<VaultError?>(nil)
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<10 {
        do throws(VaultError) {
          var change = try core.beginWriting()
          // Two that read the same number would add the same name.
          let number = try change.items(matching: Query()).count
          _ = try change.add(NewItem(.genericPassword, name: "\(number)"))
          try change.commit()
        } catch { failure.withLock { $0 = error } }
      }
    }
    #expect(failure.withLock { $0 } == nil)
    try expect(names(core), equals: (0..<80).map(String.init))
  }

  /// Without the trap it waits for itself, until the limit of this suite.
  @Test("a thread that begins a second transaction inside the first traps")
  func nested() async {
    await #expect(processExitsWith: .failure) {
      let core = try TemporaryVault().makeCore()
      var state = try core.beginReading()
      _ = try core.beginReading()
      _ = try state.items(matching: Query())
    }
  }
}
