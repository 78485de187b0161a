package import SecretMemory
import VaultStorage

/// The head row, which every commit rewrites (section 8). It holds the current audit keys, so its bytes are in
/// `SecretBytes` while it is sealed or opened.
package struct Head: ~Copyable, Sendable {
  private typealias Offset = FieldOffset.Head

  package var cleaningPending = false
  /// The file was found to be a copy: the device key that opens it may open another file too.
  package var isCopy = false
  package var config: UInt64 = 1
  package var sequence: UInt64 = 0
  package var nextRow: Int64 = 1
  package var itemCount: UInt64 = 0
  package var summedRows: UInt64 = 0
  package var sum = Sum256()
  package var fileIdentity: UInt64 = 0
  package var nextAudit: UInt64 = 1
  package var segment: UInt64 = 0
  package var segmentFirst: UInt64 = 1
  package var auditKey: SecretBytes
  /// The chain key C of the next segment.
  package var nextChainKey: SecretBytes
  package var auditMAC = [UInt8](repeating: 0, count: 32)
  package var recorded = RecordedTime(Instant(milliseconds: 0))
  package var seals: UInt64 = 0
  package var earliestExpiry: Int64 = 0
  /// When the next token or consent ends.
  package var nextTokenEnd = NextTokenEnd()
  /// The progress of a rotation of the epoch.
  package var rotation = RotationState()
  /// Bytes 241–247 and 312–319: 0 in this version; other values are kept.
  private var rest: [UInt8]
  private var end: [UInt8]

  package static let byteCount = 320
  private static let layout: UInt8 = 2
  /// The limit of every count. An honest vault never comes near it.
  package static let greatest: UInt64 = 1 << 62

  /// The head of a vault with no row and no segment yet.
  package init(auditRoot: borrowing SecretBytes) {
    auditKey = SecretBytes(zeroes: 32)
    nextChainKey = auditRoot.copy()
    rest = [UInt8](repeating: 0, count: 7)
    end = [UInt8](repeating: 0, count: 8)
  }

  package init(decoding body: borrowing SecretBytes) throws(VaultError) {
    guard body.byteCount == Self.byteCount else { throw Self.unreadable }
    let flags = body.expose { $0.word(at: Offset.layout) >> 40 }
    let row = body.expose { $0.word(at: Offset.nextRow) }
    let (phase, position) = body.expose {
      (RotationState.Phase(rawValue: $0.byte(at: Offset.rotationPhase)), $0.word(at: Offset.rotationPosition))
    }
    guard flags >> 8 == UInt64(Self.layout), row >= 1, row < UInt64(Int64.max), let phase,
      position < Self.greatest
    else {
      throw Self.unreadable
    }
    rotation = RotationState(phase: phase, position: position)
    nextRow = Int64(row)
    cleaningPending = flags & 0xFF == 1
    isCopy = body.expose { $0.byte(at: Offset.isCopy) } == 1
    (config, sequence) = body.expose { ($0.word(at: Offset.config), $0.word(at: Offset.sequence)) }
    (itemCount, summedRows) = body.expose { ($0.word(at: Offset.itemCount), $0.word(at: Offset.summedRows)) }
    sum = body.expose { Sum256($0.extracting(Offset.sum..<Offset.sum + 32)) }
    (fileIdentity, nextAudit) = body.expose {
      ($0.word(at: Offset.fileIdentity), $0.word(at: Offset.nextAudit))
    }
    (segment, segmentFirst) = body.expose { ($0.word(at: Offset.segment), $0.word(at: Offset.segmentFirst)) }
    auditMAC = body.expose { $0.extracting(Offset.auditMAC..<Offset.auditMAC + 32).array }
    recorded = body.expose { RecordedTime(in: $0) }
    seals = body.expose { $0.word(at: Offset.seals) }
    earliestExpiry = Int64(bitPattern: body.expose { $0.word(at: Offset.earliestExpiry) })
    nextTokenEnd = NextTokenEnd(rawValue: body.expose { $0.word(at: Offset.nextTokenEnd) })
    // Numbers that later commits count on from: none may reach its limit or fall below zero within a transaction.
    let greatest = max(max(sequence, config, row, itemCount), max(summedRows, nextAudit, seals))
    guard greatest < Self.greatest, segment < UInt32.max, segmentFirst >= 1, segmentFirst <= nextAudit,
      itemCount < summedRows
    else { throw Self.unreadable }
    rest = body.expose { $0.extracting(Offset.rotationPhase + 1..<Offset.rotationPosition).array }
    end = body.expose { $0.extracting(Offset.reserved..<Self.byteCount).array }
    nextChainKey = body.expose {
      SecretBytes(copying: $0.extracting(Offset.nextChainKey..<Offset.nextChainKey + 32))
    }
    auditKey = body.expose { SecretBytes(copying: $0.extracting(Offset.auditKey..<Offset.auditKey + 32)) }
  }

  private static var unreadable: VaultError { VaultError(.damaged, "the head row is not readable") }

  /// Refuses to write a head row that a reader would refuse.
  ///
  /// - Throws: ``VaultError/Code/unsupported`` for a number that has reached its limit, ``VaultError/Code/damaged`` for numbers
  ///   that do not fit together.
  package func checkBounds() throws(VaultError) {
    let counts = [
      config, sequence, UInt64(nextRow), itemCount, summedRows, nextAudit, seals, rotation.position,
    ]
    guard counts.allSatisfy({ $0 < Self.greatest }), segment < UInt32.max else { throw Self.atEnd }
    guard itemCount < summedRows, segmentFirst >= 1, segmentFirst <= nextAudit else {
      throw VaultError(
        .damaged, "the vault has more rows than its head row counts", hint: .verifyAndRestore)
    }
  }

  /// A counter has reached its limit.
  package static var atEnd: VaultError {
    VaultError(
      .unsupported, "a counter of the vault has reached its limit; nothing was changed",
      hint: "export the items, and import them into a new vault")
  }

  package var encoded: SecretBytes {
    SecretBytes(capacity: Self.byteCount) { output in
      for byte in [0, Self.layout, cleaningPending ? 1 : 0, isCopy ? 1 : 0, 0, 0, 0, 0] as [UInt8] {
        output.append(byte)
      }
      output.append(bigEndian: config)
      output.append(bigEndian: sequence)
      output.append(bigEndian: UInt64(bitPattern: nextRow))
      output.append(bigEndian: itemCount)
      output.append(bigEndian: summedRows)
      sum.append(to: &output)
      output.append(bigEndian: fileIdentity)
      output.append(bigEndian: nextAudit)
      output.append(bigEndian: segment)
      output.append(bigEndian: segmentFirst)
      auditKey.expose { output.append(copying: $0) }
      unsafe output.append(copying: auditMAC.span.bytes)
      output.append(bigEndian: UInt64(bitPattern: recorded.time.milliseconds))
      output.append(bigEndian: seals)
      output.append(bigEndian: UInt64(bitPattern: earliestExpiry))
      nextChainKey.expose { output.append(copying: $0) }
      output.append(bigEndian: nextTokenEnd.rawValue)
      output.append(rotation.phase.rawValue)
      unsafe output.append(copying: rest.span.bytes)
      output.append(bigEndian: rotation.position)
      recorded.appendBoot(to: &output)
      unsafe output.append(copying: end.span.bytes)
    }
  }
}

extension RecordedTime {
  private typealias Offset = FieldOffset.Head

  fileprivate init(in head: RawSpan) {
    func boot(at offset: Int) -> Bytes16? {
      let id = Bytes16(head.extracting(offset..<offset + 16))
      return id == Bytes16.none ? nil : id
    }
    self.init(Instant(milliseconds: Int64(bitPattern: head.word(at: Offset.recordedTime))))
    lastBoot = boot(at: Offset.lastBoot).map {
      Deadline(milliseconds: head.word(at: Offset.lastBoot + 16), boot: $0)
    }
    candidate = boot(at: Offset.candidate + 8).map {
      Reading(
        wall: Instant(milliseconds: Int64(bitPattern: head.word(at: Offset.candidate))), boot: $0,
        bootTime: head.word(at: Offset.candidate + 24))
    }
  }

  /// Bytes 256–311.
  fileprivate func appendBoot(to output: inout OutputRawSpan) {
    func append(_ boot: Bytes16?) {
      output.append(bigEndian: (boot ?? .none).high)
      output.append(bigEndian: (boot ?? .none).low)
    }
    append(lastBoot?.boot)
    output.append(bigEndian: lastBoot?.milliseconds ?? 0)
    output.append(bigEndian: UInt64(bitPattern: candidate?.wall.milliseconds ?? 0))
    append(candidate?.boot)
    output.append(bigEndian: candidate?.bootTime ?? 0)
  }
}

extension Bytes16 {
  /// No boot id.
  fileprivate static let none = Bytes16(high: 0, low: 0)
}
