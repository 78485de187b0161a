import Foundation
import TestSupport
import Testing
import VaultStorage

/// Pages that are the children of many: the same rows again and again, in a file that SQLite reads without complaint.
///
/// Verified to fail when a walk ignores the order of its rows, and without a `WorkBound` for whole statements.
@Suite("Rows in a circle", .bounded)
struct CircleTests {
  let folder = TemporaryFolder()

  enum Walk: String, CaseIterable, Sendable {
    case slots, items, scan, scannedStates, expired, summedItems, summedMaterials, summedStates, summedBlinds,
      blinds,
      rowsOfBlind
    case audit, segments

    var table: String {
      switch self {
      case .slots: "slot"
      case .items, .scan, .expired, .summedItems: "item"
      case .summedMaterials: "material"
      case .summedStates, .scannedStates: "state"
      case .summedBlinds, .blinds, .rowsOfBlind: "blind"
      case .audit: "audit"
      case .segments: "segment"
      }
    }

    func run(_ store: inout Store) throws(StorageError) {
      switch self {
      case .slots: _ = try store.slots()
      case .items: try store.forEachItem { (_: ItemRow) throws(StorageError) in true }
      case .scan: try store.scanItems { _, _ in true }
      case .scannedStates: try store.scanStates(from: 1) { _, _, _ in true }
      case .expired: _ = try store.expired(before: .max)
      case .summedItems, .summedMaterials, .summedStates, .summedBlinds: _ = try store.counts()
      case .blinds: try store.forEachBlind { (_: [UInt8], _: Int64) throws(StorageError) in true }
      case .rowsOfBlind: _ = try store.rows(blind: id16(0, 9))
      case .audit: _ = try store.auditEntries()
      case .segments: _ = try store.segments()
      }
    }
  }

  @Test("every walk finds rows that come again, and is content before", arguments: Walk.allCases)
  func circle(walk: Walk) throws {
    do {
      var store = try largeVault()
      try walk.run(&store)
    }
    try Tree(of: walk.table, in: folder("v")).giveEveryParentOneChild()
    var store = try Store.open(at: folder("v"), access: .readOnly)
    #expect(throws: StorageError.damaged(.page)) { try walk.run(&store) }
  }

  @Test("in batches, one page for all never comes to an end by itself, and is damage")
  func batches() throws {
    do { _ = try largeVault() }
    try Tree(of: "item", in: folder("v")).giveEveryParentOneChild()
    var store = try Store.open(at: folder("v"), access: .readOnly)
    var (last, count): (Int64, Int) = (0, 0)
    #expect(throws: StorageError.damaged(.page)) {
      while count < 100_000 {
        let before = last
        try store.forEachItem(after: last, limit: 64) { (item: ItemRow) throws(StorageError) in
          (last, count) = (item.row, count + 1)
          return true
        }
        if last == before { break }
      }
    }
  }

  /// A statement that goes on without end meets the limit of the suite.
  @Test("a tree of six pages with more rows than any disk ends each statement that goes through it")
  func deepTree() throws {
    do { _ = try largeVault() }
    try Tree(of: "material", in: folder("v")).grow(levels: 5)
    var store = try Store.open(at: folder("v"), access: .readWrite)
    let thrown = [
      error { () throws(StorageError) in _ = try store.counts() },
      error { () throws(StorageError) in try store.vacuum() },
    ]
    expect(thrown, equals: [String](repeating: "\(StorageError.damaged(.page))", count: 2))
    #expect(try !store.integrityCheck().isEmpty)
  }

  /// So many rows that every table has more than one page.
  private func largeVault() throws -> Store {
    try Store.create(at: folder("v")) { (store: inout Store) throws(StorageError) in
      try fill(&store, items: 400)
      for number in 3...200 { try store.insertSlot(sampleSlot(Int64(number))) }
      for number in 2...200 {
        try store.insertSegment(
          SegmentRow(
            number: UInt64(number), first: UInt64(number), previous: id16(1) + id16(2), start: id16(number)))
      }
    }
  }
}

/// The error that a body throws, as text.
private func error(_ body: () throws(StorageError) -> Void) -> String {
  do throws(StorageError) { try body() } catch { return "\(error)" }
  return "no error"
}

/// The pages of one table, changed in the closed file (SQLite's file format, section 1.6).
private struct Tree {
  private let path: String
  private let root: Int
  private static let size = 4_096

  init(of table: String, in path: String) throws {
    self.path = path
    let query = "SELECT rootpage FROM sqlite_schema WHERE name = '\(table)'"
    let text = try Program("/usr/bin/sqlite3", [path, query]).run().text
    root = try #require(Int(text.split(separator: "\n").first ?? ""))
  }

  /// Every pointer of an inner page becomes that page's first one.
  func giveEveryParentOneChild() throws {
    var bytes = try load()
    let start = (root - 1) * Self.size
    try #require([0x05, 0x02].contains(bytes[start]), "the table has one page only")
    let cells = (0..<Int(bytes[start + 3]) << 8 | Int(bytes[start + 4])).map { index in
      let place = start + 12 + 2 * index
      return start + Int(bytes[place]) << 8 + Int(bytes[place + 1])
    }
    let child = Array(bytes[cells[0]..<cells[0] + 4])
    for cell in cells { bytes.replaceSubrange(cell..<cell + 4, with: child) }
    bytes.replaceSubrange(start + 8..<start + 12, with: child)
    try save(bytes)
  }

  /// The root becomes an inner page with 300 times the same child, and that one too, so many levels down to a leaf.
  func grow(levels: Int) throws {
    var bytes = try load()
    let start = (root - 1) * Self.size
    var leaf = Array(bytes[start..<start + Self.size])
    while leaf[0] == 0x05 {
      let cell = Int(leaf[12]) << 8 | Int(leaf[13])
      let page = leaf[cell..<cell + 4].reduce(0) { $0 << 8 | Int($1) }
      leaf = Array(bytes[(page - 1) * Self.size..<page * Self.size])
    }
    var child = bytes.count / Self.size + 1
    bytes += leaf
    for _ in 1..<levels {
      bytes += inner(child)
      child += 1
    }
    bytes.replaceSubrange(start..<start + Self.size, with: inner(child))
    let count = bytes.count / Self.size
    bytes.replaceSubrange(28..<32, with: (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) })
    try save(bytes)
  }

  private func inner(_ child: Int) -> [UInt8] {
    var page = [UInt8](repeating: 0, count: Self.size)
    let pointer = (0..<4).map { UInt8(truncatingIfNeeded: child >> (24 - 8 * $0)) }
    let first = Self.size - 300 * 6
    page.replaceSubrange(
      0..<12, with: [0x05, 0, 0, 1, 44, UInt8(first >> 8), UInt8(first & 255), 0] + pointer)
    for index in 0..<300 {
      let place = first + 6 * index
      page.replaceSubrange(12 + 2 * index..<14 + 2 * index, with: [UInt8(place >> 8), UInt8(place & 255)])
      page.replaceSubrange(place..<place + 6, with: pointer + [0x80 | UInt8(index >> 7), UInt8(index & 127)])
    }
    return page
  }

  private func load() throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }
  private func save(_ bytes: [UInt8]) throws {
    try Data(bytes).write(to: URL(filePath: path))
    unsafe chmod(path, 0o600)
  }
}
