import SecretMemory
import VaultCrypto

/// The head row: what every commit rewrites (section 8). Holds the current audit keys, so it lives in `SecretBytes` while sealed or opened.
struct Head: ~Copyable, Sendable {
  var cleaningPending = false
  var config: UInt64 = 1
  var sequence: UInt64 = 0
  var nextRow: Int64 = 1
  var itemCount: UInt64 = 0
  var summedRows: UInt64 = 0
  var sum = Sum256()
  var inode: UInt64 = 0
  var nextAudit: UInt64 = 1
  var segment: UInt64 = 0
  var segmentFirst: UInt64 = 1
  var auditKey: SecretBytes
  /// C of the next segment.
  var nextChainKey: SecretBytes
  var auditMAC = [UInt8](repeating: 0, count: 32)
  var greatestWall = Instant(milliseconds: 0)
  var seals: UInt64 = 0
  var earliestExpiry: Int64 = 0
  /// The first segment of this file: later than 1 in a backup and in what is restored from one.
  var firstSegment: UInt64 = 1
  private var rest: [UInt8]

  static let byteCount = 256
  /// No count of an honest vault comes near it.
  static let greatest: UInt64 = 1 << 62

  /// The head of a vault with no row and no segment yet.
  init(auditRoot: borrowing SecretBytes) {
    auditKey = SecretBytes(zeroes: 32)
    nextChainKey = auditRoot.copy()
    rest = [UInt8](repeating: 0, count: 16)
  }

  init(decoding body: borrowing SecretBytes) throws(VaultError) {
    guard body.byteCount == Self.byteCount else { throw VaultError(.damaged, "the head row is not readable") }
    let gap = [UInt8](repeating: 0, count: 32)
    let bytes = body.expose { $0.extracting(0..<112).array + gap + $0.extracting(144..<200).array }
    let row: UInt64 = bytes.bigEndian(at: 24)
    guard bytes[0] == 0, bytes[1] == 1, row >= 1, row < UInt64(Int64.max) else {
      throw VaultError(.damaged, "the head row is not readable")
    }
    nextRow = Int64(row)
    cleaningPending = bytes[2] == 1
    config = bytes.bigEndian(at: 8)
    sequence = bytes.bigEndian(at: 16)
    itemCount = bytes.bigEndian(at: 32)
    summedRows = bytes.bigEndian(at: 40)
    sum = Sum256(bytes: Array(bytes[48..<80]))
    inode = bytes.bigEndian(at: 80)
    nextAudit = bytes.bigEndian(at: 88)
    segment = bytes.bigEndian(at: 96)
    segmentFirst = bytes.bigEndian(at: 104)
    auditMAC = Array(bytes[144..<176])
    greatestWall = Instant(milliseconds: Int64(bitPattern: bytes.bigEndian(at: 176)))
    seals = bytes.bigEndian(at: 184)
    earliestExpiry = Int64(bitPattern: bytes.bigEndian(at: 192))
    // Numbers that are counted on from here: none may come to its end, or fall below zero, within a transaction.
    guard
      [sequence, config, row, itemCount, summedRows, nextAudit, seals].allSatisfy({ $0 < Self.greatest }),
      segment < UInt32.max, segmentFirst >= 1, segmentFirst <= nextAudit, itemCount < summedRows
    else { throw VaultError(.damaged, "the head row is not readable") }
    firstSegment = max(1, body.expose { $0.extracting(232..<240).array.bigEndian(at: 0) })
    rest = body.expose { $0.extracting(240..<256).array }
    nextChainKey = body.expose { SecretBytes(copying: $0.extracting(200..<232)) }
    auditKey = body.expose { SecretBytes(copying: $0.extracting(112..<144)) }
  }

  var encoded: SecretBytes {
    var bytes = [UInt8](repeating: 0, count: 200)
    bytes[1] = 1
    bytes[2] = cleaningPending ? 1 : 0
    bytes.setBigEndian(config, at: 8)
    bytes.setBigEndian(sequence, at: 16)
    bytes.setBigEndian(UInt64(bitPattern: nextRow), at: 24)
    bytes.setBigEndian(itemCount, at: 32)
    bytes.setBigEndian(summedRows, at: 40)
    bytes.replaceSubrange(48..<80, with: sum.bytes)
    bytes.setBigEndian(inode, at: 80)
    bytes.setBigEndian(nextAudit, at: 88)
    bytes.setBigEndian(segment, at: 96)
    bytes.setBigEndian(segmentFirst, at: 104)
    bytes.replaceSubrange(144..<176, with: auditMAC)
    bytes.setBigEndian(UInt64(bitPattern: greatestWall.milliseconds), at: 176)
    bytes.setBigEndian(seals, at: 184)
    bytes.setBigEndian(UInt64(bitPattern: earliestExpiry), at: 192)
    return SecretBytes(capacity: Self.byteCount) { output in
      unsafe output.append(copying: bytes.span.bytes.extracting(0..<112))
      auditKey.expose { output.append(copying: $0) }
      unsafe output.append(copying: bytes.span.bytes.extracting(144..<200))
      nextChainKey.expose { output.append(copying: $0) }
      unsafe output.append(copying: (Int64(bitPattern: firstSegment).attributeBytes + rest).span.bytes)
    }
  }
}
