import VaultTestKit

/// One way to alter a vault file without the library.
enum Mutation: String, CaseIterable {
  case bit, byte, truncate, insert, page
  case logBit, logByte, logTruncate, logInsert
  case rowSwap, columnSwap, rowDelete, columnEdit, oldRow, oldRows, rowCopy, schema

  /// Whether it alters rows instead of bytes of a file. `verify` must always find such a change, if opening does not.
  var isOfRows: Bool {
    switch self {
    case .rowSwap, .columnSwap, .rowDelete, .columnEdit, .oldRow, .oldRows, .rowCopy: true
    default: false
    }
  }

  private var isOfLog: Bool { [.logBit, .logByte, .logTruncate, .logInsert].contains(self) }

  /// Whether it puts back an old state of a row. The row opens with its old content, and `verify` finds it.
  var isOld: Bool { self == .oldRow || self == .oldRows }

  /// Alters the bytes of the file or the log; `false` if this mutation alters rows.
  func apply(to files: inout VaultFiles, _ random: SeededRandom) -> Bool {
    if isOfLog, files.log.isEmpty { return false }
    switch self {
    case .bit: Self.flip(&files.database, random: random)
    case .byte: Self.replace(&files.database, random: random)
    case .truncate: files.database.removeLast(1 + random.below(files.database.count))
    case .insert: Self.insert(&files.database, random: random)
    case .page: Self.copyPage(&files.database, random: random)
    case .logBit: Self.flip(&files.log, random: random)
    case .logByte: Self.replace(&files.log, random: random)
    case .logTruncate: files.log.removeLast(1 + random.below(files.log.count))
    case .logInsert: Self.insert(&files.log, random: random)
    default: return false
    }
    return true
  }

  private static func flip(_ bytes: inout [UInt8], random: SeededRandom) {
    for _ in 0..<1 + random.below(3) { bytes[random.below(bytes.count)] ^= 1 << UInt8(random.below(8)) }
  }

  private static func replace(_ bytes: inout [UInt8], random: SeededRandom) {
    let start = random.below(bytes.count)
    for index in start..<min(bytes.count, start + 1 + random.below(16)) {
      bytes[index] = UInt8(truncatingIfNeeded: random.next())
    }
  }

  private static func insert(_ bytes: inout [UInt8], random: SeededRandom) {
    let count = random.below(4) == 0 ? 4096 : 1 + random.below(64)
    let added = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    bytes.insert(contentsOf: added, at: random.below(bytes.count + 1))
  }

  /// Copies one page over another, so that each page is intact in itself.
  private static func copyPage(_ bytes: inout [UInt8], random: SeededRandom) {
    let pages = bytes.count / 4096
    let (from, to) = (random.below(pages) * 4096, random.below(pages) * 4096)
    bytes.replaceSubrange(to..<to + 4096, with: Array(bytes[from..<from + 4096]))
  }
}
