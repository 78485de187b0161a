import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultFormat
import VaultKit
import VaultTestKit

/// Somebody without a key writes rows into the file that no vault has. What we write because of them must stay readable.
@Suite("Rows and numbers that no vault has", .bounded)
struct ImpossibleNumberTests {
  private static let firsts: [Int64] = [100, 1 << 62, .max - 6_000]
  private let place = TemporaryVault()

  /// The attack succeeded: the head row of the next batch named such a row, and nothing opened the vault any more, also
  /// without the rows. Verified to fail when `prepareMove` does not leave them out.
  @Test("items of great numbers in the middle of a rotation", arguments: [1, 2])
  func items(generation: Int) throws {
    let (core, id) = try begun()
    try plantItems(600, from: 1 << 62, generation)
    while try core.continueRotation() {}
    try expect(core.status().generation, equals: 2)
    try RawSQLite.run("DELETE FROM item WHERE row >= 4611686018427387904", on: place.path)
    let later = try place.openCore()
    try expect(later.secret(of: id).byteCount, equals: 1)
    try expect(later.verify().problems, equals: [])
  }

  /// Verified to fail when a repair does not remove them, and when the counts of the head row go below zero.
  @Test(
    "a rotation removes them, and other rows that were added, however many",
    arguments: [4, 600, 2_500], firsts)
  func removed(count: Int, from first: Int64) throws {
    let (_, id) = try begun()
    try plantItems(count, from: first, 1)
    try plantItems(count, from: first + Int64(count), 2)
    try RawSQLite.run(
      """
      INSERT INTO material(row, keys, secret) SELECT row, X'', X'' FROM item WHERE row >= 100;
      INSERT INTO state(row, revision, body) SELECT row, 1, X'' FROM item WHERE row >= 100
      """, on: place.path)
    let core = try unchecked()
    try core.rotateEpoch(dropDamaged: true)
    let later = try place.openCore()
    try expect(later.secret(of: id).byteCount, equals: 1)
    try expect(later.verify().problems, equals: [])
    try expect(later.status().itemCount, equals: 1)
  }

  /// The attack succeeded with one row, and the remedy that the error named destroyed the vault. Verified to fail when
  /// `moveAudit` does not leave it out.
  @Test("an entry of the log of a great number", arguments: [1, 2])
  func entry(generation: Int) throws {
    let (core, id) = try begun()
    try RawSQLite.run(
      """
      INSERT INTO audit(sequence, body, mac)
      VALUES(4611686018427387904, CAST(X'01020000000\(generation)' || randomblob(114) AS BLOB), randomblob(32))
      """, on: place.path)
    try core.rotateEpoch()
    try expect(core.status().generation, equals: 2)
    try core.rotateEpoch(dropDamaged: true)
    let later = try place.openCore()
    try expect(later.secret(of: id).byteCount, equals: 1)
    try expect(later.status().generation, equals: 3)
    try expect(later.verify().problems, equals: [])
  }

  /// Verified to fail when one of them is not looked at.
  @Test("a head row that a reader would refuse is not written", arguments: 0..<11)
  func bounds(number: Int) throws {
    var head = Head(auditRoot: SecretBytes(zeroes: 32))
    (head.sequence, head.config, head.summedRows, head.itemCount) = (1, 1, 2, 1)
    (head.segmentFirst, head.nextAudit) = (1, 1)
    try head.checkBounds()
    let limit = Head.greatest
    switch number {
    case 0: head.config = limit
    case 1: head.sequence = limit
    case 2: head.nextRow = Int64(limit)
    case 3: head.summedRows = limit
    case 4: head.nextAudit = limit
    case 5: head.seals = limit
    case 6: head.rotation.position = limit
    case 7: head.itemCount = 2
    case 8: head.segmentFirst = 0
    case 9: head.segmentFirst = 2
    default: head.segment = .max
    }
    #expect(throws: VaultError.self) { try head.checkBounds() }
    #expect(throws: VaultError.self) { _ = try Head(decoding: head.encoded) }
  }

  private func begun() throws -> (VaultCore, ItemID) {
    let core = try place.makeCore()
    let id = try core.add(NewItem(.genericPassword, name: "n"), secret: SecretBytes(testing: "s")).id
    try core.beginRotation()
    return (core, id)
  }

  private func plantItems(_ count: Int, from first: Int64, _ generation: Int) throws {
    try RawSQLite.run(
      """
      WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < \(count - 1))
      INSERT INTO item(row, id, kind, primary_key, name, flags, class, generation, version, material, expires, meta)
      SELECT \(first) + i, randomblob(16), 1, randomblob(16), NULL, 0, 1, \(generation), 1, 0, NULL, CAST(X'01020000000\(generation)' || randomblob(94) AS BLOB)
        FROM n
      """, on: place.path)
  }

  /// The command opens a damaged vault so for its repair.
  private func unchecked() throws -> VaultCore {
    try VaultCore.open(
      at: place.path, protector: place.protector, checkingRows: false, environment: place.environment)
  }
}
