import Foundation
import TestSupport
import Testing
import VaultStorage
import VaultTestKit

@Suite("The schema", .bounded)
struct SchemaTests {
  let folder = TemporaryFolder()

  @Test("it is the one of the format's page, letter for letter")
  func specification() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(contentsOf: root.appending(path: "docs/format/vault-file.md"), encoding: .utf8)
    let block = try #require(page.components(separatedBy: "```sql\n").dropFirst().first)
    let text = try #require(block.components(separatedBy: "\n```").first)
    expect(text.split(separator: "\n").map(String.init), equals: (Schema.tables + [Schema.former]).map(\.sql))
    #expect(page.contains("`application_id` = 0x\(String(Schema.applicationID, radix: 16, uppercase: true))"))
    #expect(page.contains("`user_version` = \(Schema.userVersion)"))
    #expect(page.contains("page size \(Schema.pageSize)"))
  }

  @Test(
    "a vault whose schema has anything more, less or other is refused",
    arguments: [
      "CREATE TRIGGER t AFTER UPDATE ON state BEGIN UPDATE state SET revision = 1; END",
      "CREATE VIEW v AS SELECT 1",
      "CREATE INDEX i ON item(kind)",
      "CREATE TABLE more(x)",
      "CREATE TABLE a(x INTEGER PRIMARY KEY AUTOINCREMENT); DROP TABLE a",
      "ANALYZE",
      "DROP TABLE blind",
      "ALTER TABLE item ADD COLUMN more BLOB",
      "ALTER TABLE item RENAME COLUMN flags TO flag",
      "DROP TABLE state; CREATE TABLE state(row INTEGER PRIMARY KEY, revision INTEGER NOT NULL, body BLOB NOT NULL)",
      "DROP TABLE state; CREATE TABLE state(row  INTEGER PRIMARY KEY, revision INTEGER NOT NULL, body BLOB NOT NULL) STRICT",
      "DROP TABLE state; CREATE VIEW state AS SELECT 0 AS row, 1 AS revision, x'00' AS body",
      "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = replace(sql, 'UNIQUE', '') WHERE name = 'item'",
      "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET tbl_name = 'slot' WHERE name = 'head'",
      "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = x'FF' WHERE name = 'head'",
      "PRAGMA writable_schema=ON; DELETE FROM sqlite_schema WHERE name = 'sqlite_autoindex_item_3'",
      "PRAGMA user_version=0",
      "PRAGMA user_version=-5",
    ])
  func foreign(sql: String) throws {
    do { _ = try makeVault(at: folder("v")) }
    try RawSQLite.run(sql, on: folder("v"))
    let before = folder.listing
    for access in [Store.Access.readOnly, .readWrite] {
      let error = #expect(throws: StorageError.self) { try openAndDrop(folder("v"), access) }
      switch error {
      case .damaged(.schema), .damaged(.page): break
      default: Issue.record("\(String(describing: error)) for \(sql)")
      }
    }
    expect(folder.listing, equals: before)
  }

  @Test("a database of another application is no vault, one of a later format says so")
  func identity() throws {
    do { _ = try makeVault(at: folder("v")) }
    try RawSQLite.run("PRAGMA user_version=2", on: folder("v"))
    #expect(throws: StorageError.newerFormat(version: 2)) { try openAndDrop(folder("v")) }
    try RawSQLite.run("PRAGMA application_id=77", on: folder("v"))
    #expect(throws: StorageError.damaged(.notAVault)) { try openAndDrop(folder("v")) }
  }

  @Test("a later format with another schema says that it is later, not that it is damaged")
  func laterSchema() throws {
    do { _ = try makeVault(at: folder("v")) }
    try RawSQLite.run("PRAGMA user_version=2; CREATE TABLE more(x)", on: folder("v"))
    #expect(throws: StorageError.newerFormat(version: 2)) { try openAndDrop(folder("v")) }
  }

  /// Verified to fail when the version is not compared.
  @Test(
    "an SQLite library older than 3.40 is refused by its version, before it calls a vault damaged",
    .requirement("S10"))
  func library() throws {
    for (number, text) in [(3_039_004, "3.39.4"), (3_034_001, "3.34.1"), (0, "0.0.0")] as [(Int32, String)] {
      #expect(throws: StorageError.oldLibrary(version: text)) { try SQLiteLibrary.check(number) }
    }
    for number in [3_040_000, 3_040_001, 3_051_000, 4_000_000] as [Int32] { try SQLiteLibrary.check(number) }
    expect(SQLiteLibrary.text(of: 3_040_001), equals: "3.40.1")
    #expect(Store.sqliteVersion.split(separator: ".").count >= 3)
  }
}

func openAndDrop(_ path: String, _ access: Store.Access = .readWrite) throws(StorageError) {
  _ = try Store.open(at: path, access: access)
}
