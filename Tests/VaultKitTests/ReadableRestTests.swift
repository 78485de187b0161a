import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultStorage
import VaultTestKit

/// One thing of a vault is damaged, in a place where that once stopped nearly everything. The vault has more than 1,000 rows: an
/// opening does not sum them up.
///
/// Verified to fail when a wrong value of an item or of an entry ends the reading, when a damaged own state is an error of
/// `status` and of a restore, and when the recovery code does not make it again.
@Suite("What is not damaged can be read", .bounded)
struct ReadableRestTests {
  enum Column: String, CaseIterable {
    case id, kind
    case primaryKey = "primary_key"
    case name, flags, `class`, generation, version, material, expires, meta
  }

  @Test(
    "a cell of the wrong type: the other items open, verify names it, and it can be removed",
    arguments: Column.allCases)
  func cell(column: Column) throws {
    let vault = try Filled()
    try vault.put("item SET \(column.rawValue) = 'x' WHERE row = 5", table: "item")
    let core = try vault.place.openCore()
    let name = column == .id ? ItemID(hexadecimal: String(repeating: "0", count: 32))! : vault.ids[4]
    try vault.expectRest(core, without: [name])
    #expect(try core.verify().problems.contains { $0.contains(name.hexadecimal) })
    if column != .id { try core.write { transaction in try transaction.delete(vault.ids[4]) } }
    var told: [DamagedPart] = []
    try core.rotateEpoch(dropDamaged: true) { _ in
    } damaged: {
      told.append($0)
    }
    #expect(told.map(\.isRemoved) == (column == .id ? [true] : []))
    try expect(core.verify().problems, equals: [])
    try vault.expectRest(core, without: [])
  }

  enum State: String, CaseIterable { case byte, type, revision, missing }

  @Test(
    "the vault's own state: the items open, verify names it, a backup can be made, a rotation rebuilds it",
    arguments: State.allCases, [false, true])
  func ownState(state: State, isMidway: Bool) throws {
    let vault = try Filled()
    if isMidway { try vault.place.openCore().beginRotation() }
    try vault.damageState(state)
    let core = try vault.place.openCore()
    try vault.expectRest(core, without: [], count: 400)
    #expect(try core.verify().problems.contains { $0.hasPrefix("state: ") })
    expect(.damaged) { () throws(VaultError) in try core.rotateEpoch() }
    let backup = vault.place.folder + "/b.vault"
    let report = try core.backUp(to: backup, passphrase: Passcode(testing: "x"))
    #expect(report.items == 400 && report.isStateRenewed)
    try expect(core.restorePoint().items.count, equals: 400)
    try core.rotateEpoch(dropDamaged: true)
    #expect(try core.verify().problems == [] && !core.isRotating)
    try core.setPasscode(Passcode(testing: "p"))
    try vault.place.openCore().unlock(with: Passcode(testing: "p"))
  }

  // On commit 7af909cd no restore of such a backup is possible.
  @Test(
    "a backup whose own state is damaged is restored with a new one, and with the delay of a restored vault",
    arguments: [nil, "p"])
  func backupState(passcode: String?) throws {
    let vault = try Filled()
    let core = try vault.place.openCore()
    if let passcode { try core.setPasscode(Passcode(testing: passcode)) }
    let backup = vault.place.folder + "/b.vault"
    #expect(try !core.backUp(to: backup, passphrase: Passcode(testing: "x")).isStateRenewed)
    do {
      var store = try Store.open(at: backup, access: .readWrite)
      try store.write { store throws(StorageError) in
        var row = try store.state(row: 0)!
        row.body[row.body.count / 2] ^= 1
        try store.setState(row, row: 0)
      }
    }
    let restored = try VaultCore.restore(
      from: backup, passphrase: Passcode(testing: "x"), to: vault.place.folder + "/data/r.vault",
      protector: vault.place.protector, environment: vault.place.environment)
    #expect(restored.report.items == 400 && restored.report.isStateRenewed)
    #expect((restored.report.passcodeDelay == nil) == (passcode == nil))
    try expect(restored.core.verify().problems, equals: [])
  }

  @Test("with a passcode the vault's own state is rebuilt with the recovery code, and with nothing less")
  func guardedState() throws {
    let vault = try Filled()
    let core = try vault.place.openCore()
    let code = try core.makeRecoveryCode()
    let copy = try RecoveryCode(text: code.text.copy())
    try core.setPasscode(Passcode(testing: "p"), recovery: .keep(code))
    try vault.damageState(.byte)
    let later = try vault.place.openCore()
    for words in ["p", "wrong"] {
      expect(.damaged) { () throws(VaultError) in try later.unlock(with: Passcode(testing: words)) }
      expect(.damaged) { () throws(VaultError) in
        try later.rotateEpoch(passcode: Passcode(testing: words), dropDamaged: true)
      }
    }
    try later.endDelay(with: copy)
    try later.unlock(with: Passcode(testing: "p"))
    try expect(later.verify().problems, equals: [])
  }

  /// Verified to fail when the listing ends at that row.
  @Test("an index row that leads to no item is reported, and the listing continues")
  func index() throws {
    let vault = try Filled()
    try Intruder(place: vault.place).tamper { store throws(StorageError) in
      var values: [[UInt8]] = []
      try store.forEachBlind { value, row throws(StorageError) in
        if row == 5 { values.append(value) }
        return true
      }
      for value in values { try store.insertBlind(value: value, row: 9_999) }
    }
    var query = Query()
    query.attributes[.service] = "s4"
    var told: [VaultError] = []
    let found = try vault.place.openCore().read { transaction in
      try transaction.items(matching: query, damaged: { told.append($1) })
    }
    expect(found.map(\.id), equals: [vault.ids[4]])
    expect(told.map(\.message), equals: ["the index names an item that does not exist"])
  }

  @Test(
    "an entry of the log: the items open, verify names it, it can be removed; a restored backup has a whole log",
    arguments: ["mac = zeroblob(31)", "mac = 'x'", "body = 'x'"])
  func entry(change: String) throws {
    let vault = try Filled()
    try vault.put("audit SET \(change) WHERE sequence = 7", table: "audit")
    let core = try vault.place.openCore()
    try vault.expectRest(core, without: [], count: 400)
    #expect(try core.verify().problems.contains { $0.contains("audit entry 7") })
    expect(.damaged) { () throws(VaultError) in try core.rotateEpoch() }
    try core.rotateEpoch(dropDamaged: true)
    let problems = try core.verify().problems
    #expect(problems.count == 1 && problems[0].contains("missing"), "\(problems)")
    let backup = vault.place.folder + "/b.vault"
    _ = try core.backUp(to: backup, passphrase: Passcode(testing: "x"))
    let restored = try VaultCore.restore(
      from: backup, passphrase: Passcode(testing: "x"), to: vault.place.folder + "/other/r.vault",
      protector: vault.place.protector, environment: vault.place.environment)
    try expect(restored.core.verify().problems, equals: [])
  }
}

/// 400 passwords, in about 1,600 rows.
private struct Filled {
  let place = TemporaryVault()
  let ids: [ItemID]

  init() throws {
    let core = try place.makeCore()
    ids = try core.write { transaction in
      try (0..<400).map { number in
        var new = NewItem(.genericPassword, name: "n\(number)")
        new.attributes[.service] = "s\(number)"
        return try transaction.add(new, secret: SecretBytes(testing: "secret")).id
      }
    }
  }

  /// Changes a table as if it were not strict.
  func put(_ change: String, table: String) throws {
    let (strict, free) = (") STRICT", ")")
    func schema(_ old: String, _ new: String) throws {
      try RawSQLite.run(
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = "
          + "substr(sql, 1, length(sql) - \(old.count)) || '\(new)' WHERE name = '\(table)' AND type = 'table'",
        on: place.path)
    }
    try schema(strict, free)
    try RawSQLite.run("UPDATE " + change, on: place.path)
    try schema(free, strict)
  }

  func damageState(_ state: ReadableRestTests.State) throws {
    switch state {
    case .byte:
      try Intruder(place: place).tamper { store throws(StorageError) in
        var row = try store.state(row: 0)!
        row.body[row.body.count / 2] ^= 1
        try store.setState(row, row: 0)
      }
    case .type: try put("state SET body = 'x' WHERE row = 0", table: "state")
    case .revision: try put("state SET revision = 'x' WHERE row = 0", table: "state")
    case .missing: try RawSQLite.run("DELETE FROM state WHERE row = 0", on: place.path)
    }
  }

  func expectRest(_ core: VaultCore, without damaged: [ItemID], count: Int = 399) throws {
    var found: [ItemID] = []
    var items = 0
    try core.read { transaction in
      var walk = ItemWalk()
      while let next = try transaction.nextRow(&walk) {
        if case .damaged(let id, _) = next { found.append(id) } else { items += 1 }
      }
    }
    #expect(items == count && found == damaged)
    try expect(core.secret(of: ids[399]).byteCount, equals: 6)
    try expect(core.secret(of: core.item(named: "n3").id).byteCount, equals: 6)
  }
}
