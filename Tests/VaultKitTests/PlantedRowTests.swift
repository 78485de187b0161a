import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// Somebody without a key adds rows to the file. The opening finds them, and the repair that its error names removes them, and
/// nothing that is sound.
@Suite("Rows that something else added", .bounded)
struct PlantedRowTests {
  private let place = TemporaryVault()

  /// The vault has an item with a secret in row 1, and one without in row 2.
  enum Plant: String, CaseIterable {
    case shortBlind, blindBelow, blindOfItem
    case itemBelow, itemZero, itemNext, itemHalf
    case materialBelow, materialOfNone, stateBelow, stateOfPlain
    case auditBelow, auditZero, auditNext, auditNextAndDamaged, auditNextAndItem, auditMany, auditLast
    case auditOfNewKeys
    case segmentNext
    case newerItemBeyond

    var sql: String {
      switch self {
      case .shortBlind: "INSERT INTO blind(value, row) VALUES(X'00', 1)"
      case .blindBelow: "INSERT INTO blind(value, row) VALUES(randomblob(16), -1)"
      case .blindOfItem: "INSERT INTO blind(value, row) VALUES(randomblob(16), 1)"
      case .itemBelow: Self.item("-1")
      case .itemZero: Self.item("0")
      case .itemNext: Self.item("3") + Self.item("4")
      case .itemHalf: Self.item("4611686018427387903")
      case .materialBelow: "INSERT INTO material VALUES(-5, X'', X'')"
      case .materialOfNone: "INSERT INTO material VALUES(2, randomblob(60), randomblob(60))"
      case .stateBelow: "INSERT INTO state VALUES(-5, 1, X'')"
      case .stateOfPlain: "INSERT INTO state VALUES(1, 1, X'00')"
      case .auditBelow: Self.entry("-3")
      case .auditZero: Self.entry("0")
      case .auditNext: Self.entry(Self.next) + Self.entry(Self.next)
      case .auditNextAndDamaged:
        Self.entry(Self.next) + Self.alteredEntry(generation: 1)
      case .auditOfNewKeys: Self.alteredEntry(generation: 2)
      case .auditNextAndItem: Self.entry(Self.next) + Self.item("77")
      case .auditMany: Self.entries("4611686018427387904 + i", "20000")
      case .auditLast: Self.entries("9223372036854775807 - i", "4095 - (SELECT count(*) FROM audit)")
      case .segmentNext: "INSERT INTO segment VALUES(2, 3, randomblob(32), X'')"
      case .newerItemBeyond: Self.item("4611686018427387904").replacing("X'0102", with: "X'0902")
      }
    }

    private static let next = "(SELECT max(sequence) + 1 FROM audit)"
    private static func item(_ row: String) -> String {
      """
      INSERT INTO item(row, id, kind, primary_key, name, flags, class, generation, version, material, expires, meta)
      VALUES(\(row), randomblob(16), 1, randomblob(16), NULL, 0, 1, 1, 1, 0, NULL,
        CAST(X'010200000001' || randomblob(94) AS BLOB));
      """
    }
    private static func entry(_ sequence: String) -> String {
      "INSERT INTO audit VALUES(\(sequence), CAST(X'010200000001' || randomblob(114) AS BLOB), randomblob(32));"
    }
    private static func alteredEntry(generation: Int) -> String {
      "UPDATE audit SET body = CAST(X'01020000000\(generation)' || randomblob(114) AS BLOB) WHERE sequence = 1"
    }
    private static func entries(_ sequence: String, _ last: String) -> String {
      """
      WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < \(last))
      INSERT INTO audit SELECT \(sequence), randomblob(60), randomblob(32) FROM n
      """
    }
  }

  /// What the vault is when it is repaired.
  enum Mode: CaseIterable {
    case plain
    case rotating
    /// Its verification writes to the log.
    case passcode
    case copied
    case older
  }

  /// Verified to fail when a repair reads the rows before it removes what no vault can have, when it does so after its first
  /// entry of the log, when a secret or state that an item has none of makes the item damaged, when the entries that have the
  /// new keys are not opened, and when the passcode, the mark of a copy, or the sum of an older state come first.
  @Test("a repair removes them, and nothing else", arguments: Plant.allCases, Mode.allCases)
  func repair(plant: Plant, of mode: Mode) throws {
    let passcode: String? = mode == .passcode ? "passcode" : nil
    let (core, id) = try filled(passcode: passcode)
    if mode == .rotating { try core.beginRotation() }
    if mode == .older {
      try place.keepRows()
      for name in ["a", "b", "c"] { _ = try core.add(NewItem(.genericPassword, name: name)) }
      try place.putRowsBack()
    }
    try RawSQLite.run(plant.sql, on: place.path)
    let later = try mode == .copied ? place.openCopy(checkingRows: false) : unchecked()
    func typed() throws -> Passcode? { try passcode.map { try Passcode(testing: $0) } }
    try later.rotateEpoch(passcode: typed(), dropDamaged: true)
    try expect(later.secret(of: id).byteCount, equals: 1)
    try expect(later.item(named: "bare").hasSecret, equals: false)
    // An entry that was ours leaves a gap in the chain.
    let problems =
      [.auditNextAndDamaged, .auditOfNewKeys].contains(plant) ? ["audit: entry 1 is missing"] : []
    try expect(later.verify().problems, equals: problems)
    _ = try later.add(NewItem(.genericPassword, name: "later"), secret: SecretBytes(testing: "s"))
    try expect(later.items(matching: Query()).count, equals: 3)
    if mode != .copied { _ = try place.openCore() }
  }

  /// Verified to fail when a copy takes over what the seal of the item does not list.
  @Test(
    "a backup leaves them out, and the items beside them stay",
    arguments: [Plant.materialOfNone, .stateOfPlain])
  func backup(plant: Plant) throws {
    let (core, id) = try filled()
    try RawSQLite.run(plant.sql, on: place.path)
    let file = place.folder + "/backup.vault"
    let report = try core.backUp(to: file, passphrase: Passcode(testing: "phrase"))
    #expect(report.items == 2 && report.leftOut.isEmpty)
    let restored = try VaultCore.restore(
      from: file, passphrase: Passcode(testing: "phrase"), to: place.folder + "/restored/r.vault",
      protector: place.protector, environment: place.environment
    ).core
    try expect(restored.verify().problems, equals: [])
    try expect(restored.secret(of: id).byteCount, equals: 1)
    try restored.rotateEpoch()
  }

  /// Verified to fail when such a row counts as one that was counted.
  @Test("the head row counts ours alone", arguments: [0, 1, 2, 3])
  func counts(what: Int) throws {
    let (core, id) = try filled()
    let bare = try core.item(named: "bare").id
    switch what {
    case 0:
      try RawSQLite.run(Plant.materialOfNone.sql, on: place.path)
      _ = try core.update(bare, ItemChanges(), secret: SecretBytes(testing: "new"))
    case 1:
      try RawSQLite.run(Plant.materialOfNone.sql, on: place.path)
      try core.delete(bare)
    case 2:
      try RawSQLite.run(Plant.stateOfPlain.sql, on: place.path)
      try core.delete(id)
    default:
      try RawSQLite.run(Plant.itemNext.sql + "DELETE FROM item WHERE row = 4", on: place.path)
      let planted = try #require(try core.damagedParts().first?.item)
      try unchecked().delete(planted)
    }
    try expect(place.openCore().verify().problems, equals: [])
  }

  private func filled(passcode: String? = nil) throws -> (VaultCore, ItemID) {
    let core = try place.makeCore(passcode: passcode)
    let id = try core.add(NewItem(.genericPassword, name: "n"), secret: SecretBytes(testing: "s")).id
    _ = try core.add(NewItem(.genericPassword, name: "bare"))
    return (core, id)
  }

  /// The command opens a damaged vault so for its repair.
  private func unchecked() throws -> VaultCore {
    try VaultCore.open(
      at: place.path, protector: place.protector, checkingRows: false, environment: place.environment)
  }
}
