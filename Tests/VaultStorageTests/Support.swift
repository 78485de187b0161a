import Foundation
import TestSupport
import VaultStorage

/// A new folder, 0700, removed at the end.
final class TemporaryFolder: Sendable {
  let path: String

  init() {
    var template = Array((NSTemporaryDirectory() + "/storage-XXXXXX").utf8CString)
    path = unsafe template.withUnsafeMutableBufferPointer {
      unsafe String(cString: mkdtemp($0.baseAddress!)!)
    }
  }

  deinit {
    _ = unsafe chmod(path, 0o700)
    try? FileManager.default.removeItem(atPath: path)
  }

  func callAsFunction(_ name: String) -> String { path + "/" + name }

  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

  func write(_ name: String, _ bytes: [UInt8] = []) {
    _ = FileManager.default.createFile(atPath: self(name), contents: Data(bytes))
  }
  func setMode(_ name: String, _ mode: mode_t) { _ = unsafe chmod(self(name), mode) }
  func setOwner(_ name: String, _ owner: uid_t) { _ = unsafe chown(self(name), owner, owner) }
  func remove(_ name: String) { _ = unsafe Foundation.remove(self(name)) }

  func permissions(_ name: String) -> mode_t {
    var about = stat()
    return unsafe lstat(self(name), &about) == 0 ? about.st_mode & 0o777 : 0
  }

  /// Names, sizes, modes and inodes of all files.
  var listing: [String] {
    names.map { name in
      var about = stat()
      unsafe lstat(self(name), &about)
      return "\(name) \(about.st_size) \(String(about.st_mode, radix: 8)) \(about.st_ino)"
    }
  }
}

/// 16 bytes that are the same for the same number and kind, and of no others.
func id16(_ number: Int, _ kind: UInt8 = 0) -> [UInt8] {
  var generator = SeededGenerator(seed: UInt64(number) << 8 | UInt64(kind))
  return generator.bytes(16)
}

func id16(_ number: Int, _ kind: UInt8 = 0) -> Bytes16 { Bytes16(id16(number, kind) as [UInt8]) }

func sampleItem(_ row: Int64, name: Bytes16? = nil) -> ItemRow {
  ItemRow(
    row: row, id: id16(Int(row), 1), kind: 16, primaryKey: id16(Int(row), 2), name: name ?? id16(Int(row), 3),
    flags: 4, class: 0x81, generation: 1, version: 1, material: 1, expires: nil,
    meta: SeededBytes.of(Int(row), count: 180))
}

func sampleSlot(_ id: Int64) -> SlotRow {
  SlotRow(
    id: id, kind: 3, subject: 0x0300_0000, generation: 7, opener: 4, openerID: id16(Int(id)),
    body: SeededBytes.of(Int(id), count: 114))
}

enum SeededBytes {
  static func of(_ seed: Int, count: Int) -> [UInt8] {
    var generator = SeededGenerator(seed: UInt64(truncatingIfNeeded: seed))
    return generator.bytes(count)
  }
}

/// A vault with a header, a head, two slots, `items` items and some audit entries.
func makeVault(at path: String, items: Int = 3) throws -> Store {
  try Store.create(at: path) { (store: inout Store) throws(StorageError) in try fill(&store, items: items) }
}

func fill(_ store: inout Store, items: Int) throws(StorageError) {
  try store.setHeader(HeaderRow(body: SeededBytes.of(1, count: 300), mac: SeededBytes.of(2, count: 32)))
  try store.setHead(SeededBytes.of(3, count: 290))
  try store.insertSlot(sampleSlot(1))
  try store.insertSlot(sampleSlot(2))
  try store.setState(StateRow(revision: 1, body: SeededBytes.of(4, count: 194)), row: 0)
  try store.insertSegment(SegmentRow(number: 1, first: 1, previous: id16(1) + id16(2), start: id16(3)))
  for number in 0..<items {
    let row = Int64(number + 1)
    try store.insertItem(sampleItem(row))
    try store.setMaterial(
      MaterialRow(keys: SeededBytes.of(number, count: 115), secret: SeededBytes.of(number, count: 102)),
      row: row)
    try store.setState(StateRow(revision: 1, body: SeededBytes.of(number, count: 194)), row: row)
    try store.insertBlind(value: id16(number % 2, 9), row: row)
    try store.appendAudit(
      AuditRow(sequence: UInt64(number + 1), body: SeededBytes.of(number, count: 200), mac: id16(1) + id16(2))
    )
  }
}
