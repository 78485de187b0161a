/// Every statement that runs on data, so that all SQL is in one place.
///
/// A limit of -1 means no limit. Streams are in ascending order of their first column. No statement counts or
/// filters within one step what a damaged file could make endless: rows come one by one, and the caller checks that
/// they ascend.
enum Query: Int, CaseIterable {
  case begin, beginImmediate, commit, rollback
  case header, setHeader
  case slots, insertSlot, deleteSlots
  case head, setHead
  case itemByRow, itemByID, itemByName, itemByPrimaryKey
  case insertItem, updateItem, moveItem, deleteItem, items, scanItems, expiries
  case material, setMaterial, setKeys, deleteMaterial
  case state, scanStates, setState, deleteState
  case insertBlind, deleteBlind, blind, rowsOfBlind, blinds
  case hasFormer, former, insertFormer, deleteFormer, deleteAllFormer
  case sumItems, sumMaterials, sumStates, sumBlinds, sumFormer
  case appendAudit, updateAudit, audit, deleteAudit, deleteAuditBefore
  case insertSegment, segments, deleteSegments, segmentAfter

  var sql: String {
    switch self {
    case .begin: "BEGIN"
    case .beginImmediate: "BEGIN IMMEDIATE"
    case .commit: "COMMIT"
    case .rollback: "ROLLBACK"

    case .header: "SELECT body, mac FROM header WHERE id = 1"
    case .setHeader:
      "INSERT INTO header(id, body, mac) VALUES(1, ?1, ?2) ON CONFLICT(id) DO UPDATE SET body = ?1, mac = ?2"
    case .slots: "SELECT id, kind, subject, generation, opener, opener_id, body FROM slot ORDER BY id"
    case .insertSlot:
      "INSERT INTO slot(id, kind, subject, generation, opener, opener_id, body) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)"
    case .deleteSlots: "DELETE FROM slot WHERE 1"
    case .head: "SELECT body FROM head WHERE id = 1"
    case .setHead: "INSERT INTO head(id, body) VALUES(1, ?1) ON CONFLICT(id) DO UPDATE SET body = ?1"

    case .itemByRow: "SELECT \(Query.itemColumns) FROM item WHERE row = ?1"
    case .itemByID: "SELECT \(Query.itemColumns) FROM item WHERE id = ?1"
    case .itemByName: "SELECT \(Query.itemColumns) FROM item WHERE name = ?1"
    case .itemByPrimaryKey: "SELECT \(Query.itemColumns) FROM item WHERE primary_key = ?1"
    case .insertItem:
      "INSERT INTO item(\(Query.itemColumns)) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)"
    case .updateItem:
      "UPDATE item SET id = ?2, kind = ?3, primary_key = ?4, name = ?5, flags = ?6, class = ?7, "
        + "generation = ?8, version = ?9, material = ?10, expires = ?11, meta = ?12 WHERE row = ?1"
    case .moveItem: "UPDATE item SET primary_key = ?2, name = ?3, generation = ?4, meta = ?5 WHERE row = ?1"
    case .deleteItem: "DELETE FROM item WHERE row = ?1"
    case .items: "SELECT \(Query.itemColumns) FROM item WHERE row > ?1 ORDER BY row LIMIT ?2"
    case .scanItems: "SELECT lend(\(Query.itemColumns)) FROM item WHERE row > ?1 ORDER BY row LIMIT ?2"
    case .expiries: "SELECT row, expires FROM item ORDER BY row"

    case .material: "SELECT keys, secret FROM material WHERE row = ?1"
    case .setMaterial:
      "INSERT INTO material(row, keys, secret) VALUES(?1, ?2, ?3) "
        + "ON CONFLICT(row) DO UPDATE SET keys = ?2, secret = ?3"
    case .setKeys: "UPDATE material SET keys = ?2 WHERE row = ?1"
    case .deleteMaterial: "DELETE FROM material WHERE row = ?1"
    case .state: "SELECT revision, body FROM state WHERE row = ?1"
    case .scanStates: "SELECT lend(row, revision, body) FROM state WHERE row >= ?1 ORDER BY row"
    case .setState:
      "INSERT INTO state(row, revision, body) VALUES(?1, ?2, ?3) "
        + "ON CONFLICT(row) DO UPDATE SET revision = ?2, body = ?3"
    case .deleteState: "DELETE FROM state WHERE row = ?1"

    case .insertBlind: "INSERT OR IGNORE INTO blind(value, row) VALUES(?1, ?2)"
    case .deleteBlind: "DELETE FROM blind WHERE value = ?1 AND row = ?2"
    case .blind: "SELECT row FROM blind WHERE value = ?1 AND row = ?2"
    case .rowsOfBlind: "SELECT row FROM blind WHERE value = ?1 ORDER BY row"
    case .blinds: "SELECT value, row FROM blind ORDER BY value, row"

    case .hasFormer: "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'former'"
    case .former: "SELECT version, meta, keys, secret FROM former WHERE row = ?1 ORDER BY version"
    case .insertFormer: "INSERT INTO former(row, version, meta, keys, secret) VALUES(?1, ?2, ?3, ?4, ?5)"
    case .deleteFormer: "DELETE FROM former WHERE row = ?1 AND version = ?2"
    case .deleteAllFormer: "DELETE FROM former WHERE 1"

    case .sumItems: "SELECT row, generation, meta FROM item ORDER BY row"
    case .sumMaterials:
      "SELECT m.row, i.generation, m.keys, m.secret FROM material m LEFT JOIN item i ON i.row = m.row "
        + "ORDER BY m.row"
    case .sumStates:
      "SELECT s.row, i.generation, s.body FROM state s LEFT JOIN item i ON i.row = s.row ORDER BY s.row"
    case .sumBlinds:
      "SELECT b.row, i.generation, b.value FROM blind b LEFT JOIN item i ON i.row = b.row "
        + "ORDER BY b.value, b.row"
    case .sumFormer:
      "SELECT f.row, i.generation, f.meta, f.keys, f.secret, f.version FROM former f LEFT JOIN item i ON i.row = f.row "
        + "ORDER BY f.row, f.version"

    case .appendAudit: "INSERT INTO audit(sequence, body, mac) VALUES(?1, ?2, ?3)"
    case .updateAudit: "UPDATE audit SET body = ?2, mac = ?3 WHERE sequence = ?1"
    case .audit: "SELECT sequence, body, mac FROM audit WHERE sequence >= ?1 ORDER BY sequence LIMIT ?2"
    case .deleteAudit: "DELETE FROM audit WHERE sequence = ?1"
    case .deleteAuditBefore: "DELETE FROM audit WHERE sequence < ?1"
    case .insertSegment: "INSERT INTO segment(number, first, previous, start) VALUES(?1, ?2, ?3, ?4)"
    case .segments: "SELECT number, first, previous, start FROM segment ORDER BY number"
    case .deleteSegments: "DELETE FROM segment WHERE number <= ?1"
    case .segmentAfter: "SELECT first FROM segment WHERE number > ?1 ORDER BY number LIMIT 1"
    }
  }

  /// The table that an error about a wrong value names.
  var table: StorageError.Table {
    switch self {
    case .header, .setHeader, .begin, .beginImmediate, .commit, .rollback: .header
    case .slots, .insertSlot, .deleteSlots: .slot
    case .head, .setHead: .head
    case .material, .setMaterial, .setKeys, .deleteMaterial, .sumMaterials: .material
    case .state, .scanStates, .setState, .deleteState, .sumStates: .state
    case .insertBlind, .deleteBlind, .blind, .rowsOfBlind, .blinds, .sumBlinds: .blind
    case .hasFormer, .former, .insertFormer, .deleteFormer, .deleteAllFormer, .sumFormer: .former
    case .appendAudit, .updateAudit, .audit, .deleteAudit, .deleteAuditBefore: .audit
    case .insertSegment, .segments, .deleteSegments, .segmentAfter: .segment
    default: .item
    }
  }

  private static let itemColumns =
    "row, id, kind, primary_key, name, flags, class, generation, version, material, expires, meta"
}
