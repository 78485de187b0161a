import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultStorage
import VaultTestKit

/// Former secrets whose rows somebody without keys has changed.
///
/// Verified to fail when the rows are not counted in the sum, when their version is not, when they are not bound to their item, and when
/// `verify` does not open them.
@Suite("Former secrets under attack", .bounded)
struct FormerAttackTests {
  private let place = TemporaryVault()

  private func make() throws -> (ItemID, ItemID) {
    let core = try place.makeCore()
    var ids: [ItemID] = []
    for name in ["a", "b"] {
      let id = try core.add(NewItem(.genericPassword, name: name), secret: SecretBytes(testing: name)).id
      for number in 0..<3 {
        try core.update(id, ItemChanges(), secret: SecretBytes(testing: "\(name)\(number)"))
      }
      ids.append(id)
    }
    return (ids[0], ids[1])
  }

  private func openDamaged() throws(VaultError) -> VaultCore {
    try VaultCore.open(
      at: place.path, protector: place.protector, checkingRows: false, environment: place.environment)
  }

  enum Change: String, CaseIterable, Sendable {
    case exchanged, versions, deleted, copied, secret, keys, meta, foreign, table
  }

  private func apply(_ change: Change) throws {
    try Intruder(place: place).tamper { store throws(StorageError) in
      var (a, b) = (try store.former(row: 1), try store.former(row: 2))
      for row in a { try store.deleteFormer(version: row.version, row: 1) }
      for row in b { try store.deleteFormer(version: row.version, row: 2) }
      switch change {
      case .exchanged: swap(&a, &b)
      case .versions: (a[0].version, a[1].version) = (a[1].version, a[0].version)
      case .deleted: a.removeLast()
      case .copied:
        var row = a[0]
        row.version = 77
        a.append(row)
      case .secret: a[1].secret[40] ^= 1
      case .keys: a[1].keys[40] ^= 1
      case .meta: a[1].meta = a[0].meta
      case .foreign: try store.insertFormer(a[0], row: 9)
      case .table: break
      }
      for row in a { try store.insertFormer(row, row: 1) }
      for row in b { try store.insertFormer(row, row: 2) }
    }
    if change == .table { try RawSQLite.run("DROP TABLE former", on: place.path) }
  }

  @Test("an opening or verify names it", arguments: Change.allCases)
  func changed(change: Change) throws {
    let (a, _) = try make()
    try apply(change)
    let error = thrown { () throws(VaultError) in _ = try place.openCore().verify() }
    let isInside = change == .secret || change == .keys
    if isInside {
      let problems = try place.openCore().verify().problems
      #expect(problems.count == 1 && problems[0].contains("item \(a), its former secret 2"), "\(problems)")
    } else {
      #expect(error?.code == .damaged, "\(change)")
    }
  }

  @Test("a rotation that drops damage ends it", arguments: Change.allCases.filter { $0 != .table })
  func dropped(change: Change) throws {
    let (a, b) = try make()
    try apply(change)
    let core = try openDamaged()
    try core.rotateEpoch(dropDamaged: true)
    try expect(core.verify().problems, equals: [])
    try expect(core.secret(of: a).textForTesting + core.secret(of: b).textForTesting, equals: "a2b2")
  }

  @Test("one that is exchanged does not open as another's")
  func exchanged() throws {
    let (a, _) = try make()
    try apply(.exchanged)
    let core = try openDamaged()
    expect(.damaged) { () throws(VaultError) in _ = try core.entry(of: a, version: 1) }
    expect(.damaged) { () throws(VaultError) in _ = try core.history(of: a) }
  }
}
