import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// Verified to fail when a program may change the state of any kind, and when a restore over a vault ignores the states
/// of programs' kinds. Verified to fail when a restore, or the first commit to a copy, does not mark these states.
@Suite("Kinds of programs", .bounded, .requirement("L7"))
struct OwnKindTests {
  private static let lease = ItemKind(rawValue: 0x8007)
  private let place = TemporaryVault()

  private func newLease(_ counter: UInt64) -> NewItem {
    var new = NewItem(Self.lease, name: "lease")
    new.state.counter = counter
    return new
  }

  @Test("an item of a program's kind keeps a state, which changes while the vault is locked")
  func state() async throws {
    let vault = try place.make(passcode: "1234")
    let id = try await vault.add(newLease(7)).id
    vault.lock()
    let used = try await vault.write { transaction throws(VaultError) in
      try transaction.updateState(of: id) { state in
        defer { state.counter += 1 }
        return state.counter
      }
    }
    expect(used, equals: 7)
    let later = try place.openCore()
    try expect(
      later.reading { transaction throws(VaultError) in try transaction.state(of: id).counter }, equals: 8)
    try expect(later.verify().problems, equals: [])
  }

  @Test("a closure that refuses changes nothing, with its own type of error")
  func refusal() async throws {
    enum LeaseError: VaultFailure, Equatable {
      case vault(VaultError.Code), taken
      init(vault error: VaultError) { self = .vault(error.code) }
    }
    let vault = try place.make()
    let id = try await vault.add(newLease(7)).id
    let bare = try await vault.add(NewItem(Self.lease, name: "bare")).id
    func take(_ id: ItemID) async throws(LeaseError) {
      try await vault.write { transaction throws(LeaseError) in
        try transaction.updateState(of: id) { state throws(LeaseError) in
          state.counter += 1
          throw .taken
        }
      }
    }
    await #expect(throws: LeaseError.taken) { try await take(id) }
    await #expect(throws: LeaseError.vault(.itemNotFound)) { try await take(bare) }
    try await expect(vault.read { transaction in try transaction.state(of: id).counter }, equals: 7)
  }

  @Test(
    "only kinds of programs have a state that their program changes",
    arguments: [1, 4, 16, 21, 0x7FFF, 0xC000])
  func otherKinds(number: UInt32) async throws {
    let core = try place.makeCore()
    var new = NewItem(ItemKind(rawValue: number), name: "n")
    new.state.counter = 1
    let (vault, id) = (Vault(core: core), try core.add(new, by: Component(new.kind)).id)
    await expect(
      .policy,
      awaiting: {
        try await vault.write { transaction in try transaction.updateState(of: id) { $0.counter = 9 } }
      })
    try await expect(vault.verify().problems, equals: [])
  }

  @Test("a state that is taken away does not begin again, and verify finds it")
  func takenAway() throws {
    let core = try place.makeCore()
    let item = try core.add(newLease(7))
    try RawSQLite.run("DELETE FROM state WHERE row = \(item.row)", on: place.path)
    let open = try VaultCore.open(
      at: place.path, protector: place.protector, checkingRows: false, environment: place.environment)
    expect(.itemNotFound) { () throws(VaultError) in
      try open.writing { transaction throws(VaultError) in
        try transaction.updateState(of: item.id) { $0.counter += 1 }
      }
    }
    #expect(try !open.verify().problems.isEmpty)
  }

  @Test("a rotation of the epoch and a restore over the vault keep the state")
  func kept() throws {
    let core = try place.makeCore()
    let id = try core.add(newLease(7)).id
    try core.rotateEpoch()
    func counter(_ core: VaultCore) throws(VaultError) -> UInt64 {
      try core.reading { transaction throws(VaultError) in try transaction.state(of: id).counter }
    }
    try expect(counter(core), equals: 7)
    let backup = place.folder + "/data/b.vault"
    _ = try core.backUp(to: backup, passphrase: Passcode(testing: "p"))
    try core.writing { transaction throws(VaultError) in
      try transaction.updateState(of: id) { $0.counter = 9 }
    }
    let restored = try VaultCore.restore(
      from: backup, passphrase: Passcode(testing: "p"), to: place.folder + "/data/r.vault",
      protector: place.protector, newer: core.restorePoint(), environment: place.environment)
    try expect(counter(restored.core), equals: 9)
  }

  @Test("a restored state says that another side may be ahead of it, until the program has settled that")
  func restored() throws {
    let core = try place.makeCore()
    let id = try core.add(newLease(7)).id
    _ = try core.add(NewItem(Self.lease, name: "bare"))
    let backup = place.folder + "/data/b.vault"
    _ = try core.backUp(to: backup, passphrase: Passcode(testing: "p"))
    let restored = try VaultCore.restore(
      from: backup, passphrase: Passcode(testing: "p"), to: place.folder + "/data/r.vault",
      protector: place.protector, environment: place.environment)
    #expect(try state(of: id, in: restored.core) == (7, true))
    #expect(restored.report.items == 2 && restored.report.needsResync == 0)
    #expect(try state(of: id, in: core) == (7, false))
    try restored.core.writing { transaction throws(VaultError) in
      try transaction.updateState(of: id) { $0.needsResync = false }
    }
    #expect(try state(of: id, in: restored.core) == (7, false))
    try expect(restored.core.verify().problems, equals: [])
  }

  @Test(
    "the state in a copy of the file says it too, before the program changes it; an item without a state has none"
  )
  func copied() throws {
    let id = try {
      let core = try place.makeCore()
      _ = try core.add(NewItem(Self.lease, name: "bare"))
      return try core.add(newLease(7)).id
    }()
    _ = try place.openCore().add(NewItem(.genericPassword, name: "gives the file its identity"))
    let files = FileManager.default
    try files.copyItem(atPath: place.path, toPath: place.path + ".copy")
    try files.removeItem(atPath: place.path)
    try files.moveItem(atPath: place.path + ".copy", toPath: place.path)
    let core = try place.openCore()
    let seen = try core.writing { transaction throws(VaultError) in
      try transaction.updateState(of: id) { $0.needsResync }
    }
    #expect(seen)
    #expect(try state(of: id, in: core) == (7, true))
    let details = try core.auditEntries().filter { $0.operation == .copyDetected }.map(\.detail)
    expect(details, equals: ["1 counters need a resynchronization"])
    try expect(core.verify().problems, equals: [])
  }

  private func state(of id: ItemID, in core: VaultCore) throws(VaultError) -> (UInt64, Bool) {
    try core.reading { transaction throws(VaultError) in
      let state = try transaction.state(of: id)
      return (state.counter, state.needsResync)
    }
  }
}
