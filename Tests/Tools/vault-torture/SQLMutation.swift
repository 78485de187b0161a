import VaultTestKit

/// Makes the mutations of rows and of the schema, in SQL.
final class SQLMutation {
  let shell: SQLShell
  let path: String
  let oldPath: String
  let cleanPath: String
  let random: SeededRandom
  /// The row whose sealed secret differs from the unaltered vault, and not in its tag, where nothing else differs.
  private(set) var rowOfSecret: Int64?

  init(shell: SQLShell, path: String, oldPath: String, cleanPath: String, random: SeededRandom) {
    (self.shell, self.path, self.oldPath, self.cleanPath) = (shell, path, oldPath, cleanPath)
    self.random = random
  }

  private static let columns: [(table: String, key: String, names: [String])] = [
    ("header", "id", ["body", "mac"]),
    ("slot", "id", ["kind", "subject", "generation", "opener", "opener_id", "body"]),
    ("head", "id", ["body"]),
    (
      "item", "row",
      [
        "id", "kind", "primary_key", "name", "flags", "class", "generation", "version", "material", "expires",
        "meta",
      ]
    ),
    ("material", "row", ["keys", "secret"]),
    ("state", "row", ["revision", "body"]),
    ("blind", "row", ["value", "row"]),
    ("segment", "number", ["first", "previous", "start"]),
    ("audit", "sequence", ["body", "mac"]),
  ]

  /// Writes the whole unaltered vault into one file, for comparison with mutants.
  static func keep(_ path: String, as cleanPath: String, shell: SQLShell) {
    _ = shell.run(".open \(path)\nVACUUM INTO '\(cleanPath)';\n.open :memory:")
  }

  /// Runs the mutation. Returns whether any row has changed.
  func apply(_ mutation: Mutation) -> Bool {
    let keepsLog = random.below(2) == 0 ? "on" : "off"
    let lines = shell.run(
      """
      .open \(path)
      .dbconfig no_ckpt_on_close \(keepsLog)
      ATTACH '\(oldPath)' AS old; ATTACH '\(cleanPath)' AS clean;
      \(mutation == .schema ? schemaEdit() : statement(mutation))
      SELECT 'changed ' || (\(Self.differences));
      SELECT 'secret ' || here.row FROM main.material here JOIN clean.material there ON here.row = there.row
        WHERE here.secret IS NOT there.secret AND substr(here.secret, -16) = substr(there.secret, -16);
      .open :memory:
      """)
    guard let line = lines.last(where: { $0.hasPrefix("changed ") }) else { return false }
    let secrets = lines.filter { $0.hasPrefix("secret ") }
    // The row of each vault.
    if line == "changed 2", secrets.count == 1 { rowOfSecret = Int64(secrets[0].dropFirst(7)) }
    return line != "changed 0"
  }

  /// The number of rows that differ from the unaltered vault, over all tables.
  private static let differences = columns.map { table in
    ["main", "clean"].map { here in
      let there = here == "main" ? "clean" : "main"
      return
        "(SELECT count(*) FROM (SELECT * FROM \(here).\(table.table) EXCEPT SELECT * FROM \(there).\(table.table)))"
    }.joined(separator: " + ")
  }.joined(separator: " + ")

  private func statement(_ mutation: Mutation) -> String {
    let (table, key, names) = Self.columns[random.below(Self.columns.count)]
    let column = names[random.below(names.count)]
    switch mutation {
    case .rowDelete: return "DELETE FROM \(table) WHERE (\(pick(from: table, key: key)));"
    case .columnEdit:
      return "UPDATE \(table) SET \(column) = \(edit(column)) WHERE \(pick(from: table, key: key));"
    case .rowSwap, .columnSwap: return swap(mutation)
    case .oldRow:
      let tables = [["item"], ["material"], ["state"], ["head"], ["header", "slot"]][random.below(5)]
      return putBack(tables, isOne: tables.count == 1)
    case .oldRows: return putBack(["item", "material", "state", "blind"], isOne: false)
    case .rowCopy: return copy()
    default: return ""
    }
  }

  /// A condition that matches one random row, of a rowid table or of `blind`.
  private func pick(from table: String, key: String) -> String {
    let offset = random.below(1 << 20)
    let match = table == "blind" ? "(value, row) = (SELECT value, row" : "\(key) = (SELECT \(key)"
    return "\(match) FROM \(table) LIMIT 1 OFFSET \(offset) % (SELECT count(*) FROM \(table)))"
  }

  private func edit(_ column: String) -> String {
    let bytes =
      "x'\(hexadecimal((0..<1 + random.below(3)).map { _ in UInt8(truncatingIfNeeded: random.next()) }))'"
    let isBlob = [
      "body", "mac", "opener_id", "id", "primary_key", "name", "meta", "keys", "secret", "value", "previous",
      "start",
    ]
    .contains(column)
    guard isBlob else {
      return [
        "\(column) + 1", "\(column) - 1", "0", "\(column) ^ 1", "coalesce(\(column), 0) + 1", "-1",
        "9223372036854775807", "NULL", "\(column) | 128",
      ].map { $0.contains("^") ? "(\(column) | 1) - (\(column) & 1)" : $0 }[random.below(9)]
    }
    let half = "length(\(column)) * \(random.below(100)) / 100"
    return [
      "cast(substr(\(column), 1, \(half)) || \(bytes) || substr(\(column), \(half) + 2) AS BLOB)",
      "substr(\(column), 1, \(half))", "cast(\(column) || \(bytes) AS BLOB)", "x''", "NULL",
      "zeroblob(length(\(column)))",
    ][random.below(6)]
  }

  /// Exchanges the contents of two rows of one table: all columns, or one.
  private func swap(_ mutation: Mutation) -> String {
    let tables = ["item", "material", "state", "blind", "slot", "audit"]
    let table = tables[random.below(tables.count)]
    let (_, key, names) = Self.columns.first { $0.table == table }!
    var moved = names.filter { $0 != "row" }
    if mutation == .columnSwap { moved = [moved[random.below(moved.count)]] }
    let (first, second) = (random.below(1 << 20), random.below(1 << 20))
    func offset(_ number: Int) -> String { "\(number) % (SELECT count(*) FROM \(table))" }
    // Unique columns cannot be exchanged in place, so both rows are deleted and inserted again.
    return """
      CREATE TEMP TABLE pair AS SELECT * FROM (SELECT * FROM \(table) LIMIT 1 OFFSET \(offset(first)))
        UNION ALL SELECT * FROM (SELECT * FROM \(table) LIMIT 1 OFFSET \(offset(second)));
      DELETE FROM \(table) WHERE \(key) IN (SELECT \(key) FROM pair)
        AND \(table == "blind" ? "value IN (SELECT value FROM pair)" : "1")
        AND (SELECT count(DISTINCT \(key)) FROM pair) = 2;
      INSERT INTO \(table) SELECT * FROM \(exchanged(table, key: key, moved: moved)) \(table)
        WHERE (SELECT count(DISTINCT \(key)) FROM pair) = 2;
      DROP TABLE pair;
      """
  }

  /// The two rows of `pair`, each with the exchanged columns of the other.
  private func exchanged(_ table: String, key: String, moved: [String]) -> String {
    let all = allColumns(of: table, key: key)
    let list = all.map { moved.contains($0) ? "b.\($0)" : "a.\($0)" }.joined(separator: ", ")
    return "(SELECT \(list) FROM pair a JOIN pair b ON a.\(key) <> b.\(key))"
  }

  private func allColumns(of table: String, key: String) -> [String] {
    let names = Self.columns.first { $0.table == table }!.names
    return table == "blind" ? names : [key] + names
  }

  /// Puts back old rows that differ from the present ones: one of them, or all.
  private func putBack(_ tables: [String], isOne: Bool) -> String {
    tables.map { table in
      let old = "SELECT * FROM old.\(table) EXCEPT SELECT * FROM main.\(table)"
      let some = isOne ? "LIMIT 1 OFFSET \(random.below(1 << 20)) % (SELECT count(*) FROM (\(old)))" : ""
      return "INSERT OR REPLACE INTO main.\(table) SELECT * FROM (\(old)) \(some);"
    }.joined(separator: "\n")
  }

  /// Copies a row under a new number, which makes a second item, secret or state.
  private func copy() -> String {
    let table = ["material", "state", "blind", "audit", "slot"][random.below(5)]
    let (_, key, _) = Self.columns.first { $0.table == table }!
    let list = allColumns(of: table, key: key).map { $0 == key ? "\(key) + 100000" : $0 }.joined(
      separator: ", ")
    return "INSERT INTO \(table) SELECT \(list) FROM \(table) LIMIT 1 OFFSET \(random.below(5));"
  }

  private func schemaEdit() -> String {
    let edits = [
      "CREATE TRIGGER t AFTER UPDATE ON head BEGIN DELETE FROM state; END;",
      "CREATE VIEW v AS SELECT * FROM item;", "CREATE INDEX i ON item(kind);",
      "ALTER TABLE item ADD COLUMN more BLOB;", "DROP TABLE blind;", "CREATE TABLE more(a);",
      "PRAGMA user_version = 2;", "PRAGMA application_id = 1;",
    ]
    return edits[random.below(edits.count)]
  }
}
