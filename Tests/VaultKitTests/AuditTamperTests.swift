import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultCrypto
import VaultKit
import VaultStorage
import VaultTestKit

/// R15: every edit, deletion, exchange and truncation of the log is found, by whoever has the passcode.
///
/// That the log has one entry for each operation is shown after the kills of R1 (Tests/TortureTests). Verified to fail
/// when `AuditWalk` does not compare an entry's MAC, when a segment may end early, when `Verification` does not ask
/// `endsAsHeadSays`, and when a segment's `previous` is not compared while the vault is locked.
@Suite("An altered audit log", .bounded, .requirement("R15"), .serialized)
struct AuditTamperTests {
  /// Entries before the passcode, then a new chain with more of them; long: over several full segments.

  @Test("with the vault file alone: nothing of the log can be altered, moved or left out")
  func fileAlone() throws {
    let log = try Log(entries: isLongForm ? 300 : 24, segments: 0)
    for index in log.entries.indices {
      for change in FileChange.allCases { try log.expectFound(change, at: index) }
    }
    try log.expectAllSegmentChangesFound()
  }

  @Test("a log that begins with a later segment is found, unless it begins with a restore")
  func beginning() throws {
    let log = try Log(entries: 10, segments: 1)
    try log.expectCutsAtBeginningFound()
    try log.expectBeginning(operation: 9, isFound: true)
    // The limit: the device key's holder can also make a backup and restore it.
    try log.expectBeginning(operation: 21, isFound: false)
  }

  /// Verified to fail when an empty segment is allowed where the oldest segment may be.
  @Test("segment 1 without entries is found, whatever follows it")
  func emptyFirst() throws {
    let log = try Log(entries: 10, segments: 0, isGuarded: true)
    for operation: UInt16 in [1, 21] { try log.expectBeginning(operation: operation, isFound: true) }
  }

  @Test(
    "with the device key too: what was logged before the keys were taken cannot be altered, only all of it lost"
  )
  func withDeviceKey() throws {
    let log = try Log(entries: isLongForm ? 300 : 24, segments: 0)
    // Before the passcode there is nothing that the device key's holder cannot make.
    for index in log.entries.indices where log.entries[index].sequence >= log.chainStart {
      for change in KeyChange.allCases { try log.expectFound(change, at: index) }
    }
  }

  @Test("over full segments: entries and segments at their borders, and cuts at each of them")
  func segments() throws {
    let log = try Log(entries: 10, segments: isLongForm ? 8 : 1)
    let border = Int(try #require(log.segments.last).first)
    let borders = log.segments.flatMap { [Int($0.first) - 1, Int($0.first), Int($0.first) + 1] }
    let few = [border - 1, border, log.entries.count]
    for sequence in Set(isLongForm ? borders + few + [1, 2_000] : few).sorted() {
      guard let index = log.entries.firstIndex(where: { $0.sequence == UInt64(max(1, sequence)) }) else {
        continue
      }
      for change in FileChange.allCases { try log.expectFound(change, at: index) }
      guard log.entries[index].sequence >= log.chainStart else { continue }
      for change in KeyChange.allCases { try log.expectFound(change, at: index) }
    }
    try log.expectAllSegmentChangesFound()
  }
}

/// What can be done to an entry by whoever can write the file.
private enum FileChange: String, CaseIterable {
  case body, bodyEnd, mac, delete, cutFromHere, cutBefore, exchangeBodies, exchangeMACs, exchangeRows, double
  case renumber
}

/// What can be done by whoever also has the device key: every seal is good.
private enum KeyChange: String, CaseIterable {
  case reword, rewordWithMAC, delete, deleteAndRenumber, exchange, cutFromHere, cutAndGoOn, cutAndNewSegment
}

/// A vault with a log, and the log as it was, to be put back after each change.
private final class Log {
  private let place: TemporaryVault
  private let core: VaultCore
  private let locked: VaultCore
  let entries: [AuditRow]
  let segments: [SegmentRow]
  /// The first sequence behind the passcode.
  let chainStart: UInt64
  private let head: [UInt8]

  /// - Parameter isGuarded: Whether the vault has its passcode from the beginning.
  init(entries count: Int, segments full: Int, isGuarded: Bool = false) throws {
    let place = TemporaryVault(in: FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : nil)
    core = try place.makeCore(passcode: isGuarded ? "p" : nil)
    for index in 0..<count / 2 {
      _ = try core.add(NewItem(.genericPassword, name: "a\(index)"), secret: SecretBytes(testing: "s"))
    }
    if !isGuarded { try core.setPasscode(Passcode(testing: "p")) }
    for index in 0..<count / 2 {
      _ = try core.add(NewItem(.genericPassword, name: "b\(index)"), secret: SecretBytes(testing: "s"))
    }
    for _ in 0..<full {
      try core.write { transaction in
        for _ in 0..<2_048 {
          let id = try transaction.add(NewItem(.genericPassword, name: "gone")).id
          try transaction.delete(id)
        }
      }
    }
    let (entries, segments, head) = try Intruder(place: place).tamper { store throws(StorageError) in
      (try store.auditEntries(), try store.segments(), try store.head())
    }
    (self.entries, self.segments, self.head) = (entries, segments, head)
    chainStart = try present(segments.dropFirst(isGuarded ? 0 : 1).first).first
    self.place = place
    locked = try place.openCore()
    try #require(segments.count == (isGuarded ? 1 : 2) + full)
    // What is found below must be what was done there.
    let report = try core.verify()
    try #require(report.problems == [] && report.isAuditChainChecked)
    try #require(report.auditEntries == UInt64(entries.count))
  }

  func expectFound(_ change: FileChange, at index: Int) throws {
    var changed = entries
    let other = index == 0 ? 1 : index - 1
    switch change {
    case .body: changed[index].body[changed[index].body.count / 2] ^= 1
    case .bodyEnd: changed[index].body.removeLast()
    case .mac: changed[index].mac[7] ^= 0x10
    case .delete: changed.remove(at: index)
    case .cutFromHere: changed.removeSubrange(index...)
    case .cutBefore:
      guard index > 0 else { return }
      changed.removeSubrange(..<index)
    case .exchangeBodies:
      (changed[index].body, changed[other].body) = (changed[other].body, changed[index].body)
    case .exchangeMACs: (changed[index].mac, changed[other].mac) = (changed[other].mac, changed[index].mac)
    case .exchangeRows:
      (changed[index].body, changed[other].body) = (changed[other].body, changed[index].body)
      (changed[index].mac, changed[other].mac) = (changed[other].mac, changed[index].mac)
    case .double:
      changed.append(changed[index])
      changed[changed.count - 1].sequence = UInt64(entries.count + 1)
    case .renumber:
      changed[index].sequence = UInt64(entries.count + 1)
      changed.append(changed.remove(at: index))
    }
    try write(changed, segments)
    // The MACs are all that needs the passcode to be judged.
    try judge(
      "\(change.rawValue) at entry \(entries[index].sequence)",
      alsoLocked: ![.mac, .exchangeMACs].contains(change))
  }

  func expectAllSegmentChangesFound() throws {
    for index in segments.indices {
      var all: [(String, [SegmentRow])] = []
      func add(_ name: String, _ change: (inout [SegmentRow]) -> Void) {
        var changed = segments
        change(&changed)
        all.append((name, changed))
      }
      add("delete") { $0.remove(at: index) }
      add("first") { $0[index].first += 1 }
      add("previous") { $0[index].previous[3] ^= 1 }
      add("start") { $0[index].start = [1] }
      add("number") { $0[index].number += 100 }
      for (name, changed) in all {
        try write(entries, changed.sorted { $0.number < $1.number })
        // What the first segment is chained to is covered by the MACs alone.
        try judge("\(name) of segment \(index + 1)", alsoLocked: name != "previous" || index > 0)
      }
      // The segment as a whole, with its entries.
      guard index + 1 < segments.count else { continue }
      let range = segments[index].first..<segments[index + 1].first
      try write(
        entries.filter { !range.contains($0.sequence) },
        segments.filter { $0.number != segments[index].number })
      try judge("segment \(index + 1) with its entries", alsoLocked: true)
    }
  }

  /// Leaves an empty segment in place of the oldest ones, as a restore does.
  func expectCutsAtBeginningFound() throws {
    for index in 1..<segments.count {
      let (next, before) = (segments[index], segments[index - 1])
      let empty = SegmentRow(number: before.number, first: next.first, previous: before.previous, start: [])
      var kept = [empty] + segments[index...]
      try write(entries.filter { $0.sequence >= next.first }, kept)
      try judge("an empty segment before segment \(next.number)", alsoLocked: true)
      kept[1].previous = anchor(of: empty)
      try write(entries.filter { $0.sequence >= next.first }, kept)
      try judge("segment \(next.number) chained to an empty one", alsoLocked: true)
    }
  }

  func expectFound(_ change: KeyChange, at index: Int) throws {
    var forgery = try Forgery(of: self, at: index, head: head, keys: Intruder(place: place).keys())
    try forgery.make(change)
    try write(forgery.entries, forgery.segments)
    let sealedHead = try forgery.sealedHead()
    try Intruder(place: place).tamper { store throws(StorageError) in try store.setHead(sealedHead) }
    try judge("\(change.rawValue) at entry \(entries[index].sequence)")
  }

  /// A whole new log, from what the head row has: an empty segment, and one that begins with an entry of `operation`.
  func expectBeginning(operation: UInt16, isFound: Bool) throws {
    let keys = try Intruder(place: place).keys()
    let (audit, heads) = (
      try keys.seal(Labels.audit, Labels.auditNonce), try keys.seal(Labels.head, Labels.headNonce)
    )
    let (number, last) = (try present(segments.last).number, try present(entries.last))
    let empty = SegmentRow(
      number: number, first: last.sequence, previous: Array(repeating: 0, count: 32), start: [])
    let own = SegmentRow(number: number + 1, first: last.sequence, previous: anchor(of: empty), start: [])
    var data = keys.part("audit")
    data.set(17, u64: last.sequence)
    var record = try Record(decoding: audit.open(last.body, aad: data.encoded))
    record.set(7, u16: operation)
    var newHead = try heads.open(head, aad: keys.part("head").encoded)
    let chain = SecretBytes(copying: Array(newHead[200..<232]))
    let key = SecretBytes(copying: moved(chain, "vault/1/audit-segment"))
    let mac = KeyedHMAC(key: key).code(
      for: anchor(of: own) + bytes(last.sequence) + SHA256.hash(record.encoded))
    newHead.setNumber(own.number, at: 96)
    newHead.setNumber(own.first, at: 104)
    newHead.replaceSubrange(112..<144, with: moved(key, "vault/1/audit-next"))
    newHead.replaceSubrange(144..<176, with: mac)
    newHead.replaceSubrange(200..<232, with: moved(chain, "vault/1/audit-chain"))
    let body = try audit.seal(record.encoded, aad: data.encoded, random: SystemRandom())
    let sealedHead = try heads.seal(newHead, aad: keys.part("head").encoded, random: SystemRandom())
    try write([AuditRow(sequence: last.sequence, body: body, mac: mac)], [empty, own])
    try Intruder(place: place).tamper { store throws(StorageError) in try store.setHead(sealedHead) }
    if isFound { return try judge("a beginning without a restore", alsoLocked: true) }
    #expect(try core.verify().problems == [] && core.auditEntries().map(\.operation) == [.restored])
  }

  fileprivate func bytes(_ number: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
  }

  fileprivate func anchor(of row: SegmentRow) -> [UInt8] {
    SHA256.hash(Array("vault/1/audit-anchor".utf8) + bytes(row.number) + bytes(row.first) + row.previous)
  }

  fileprivate func moved(_ key: borrowing SecretBytes, _ label: String) -> [UInt8] {
    KeyedHMAC(key: key).code(for: Array(label.utf8))
  }

  /// `verify` has to find it, where `alsoLocked` without the passcode too; then everything is put back.
  private func judge(_ what: String, alsoLocked: Bool = false) throws {
    for core in alsoLocked ? [core, locked] : [core] {
      let problems = (try? core.verify().problems) ?? ["refused"]
      #expect(!problems.isEmpty, "not found\(core === locked ? " while locked" : ""): \(what)")
    }
    try write(entries, segments)
    try Intruder(place: place).tamper { [head] store throws(StorageError) in try store.setHead(head) }
  }

  private func write(_ entries: [AuditRow], _ segments: [SegmentRow]) throws {
    try RawSQLite.run("DELETE FROM audit; DELETE FROM segment;", on: place.path)
    try Intruder(place: place).tamper { store throws(StorageError) in
      for entry in entries { try store.appendAudit(entry) }
      for segment in segments { try store.insertSegment(segment) }
    }
  }
}

/// A log that the device key's holder has changed at one entry: every seal is right.
private struct Forgery: ~Copyable {
  private(set) var entries: [AuditRow]
  private(set) var segments: [SegmentRow]
  private let log: Log
  private let index: Int
  private let keys: RootKeys
  /// The head row's content as it was, and as it will be.
  private let oldHead: [UInt8]
  private var head: [UInt8]
  private let row: AuditRow
  /// The MAC of the entry before.
  private let previous: [UInt8]

  init(of log: Log, at index: Int, head sealed: [UInt8], keys: consuming RootKeys) throws {
    let content = try keys.seal(Labels.head, Labels.headNonce).open(sealed, aad: keys.part("head").encoded)
    (self.log, self.index) = (log, index)
    self.keys = keys
    (oldHead, head) = (content, content)
    (entries, segments) = (log.entries, log.segments)
    row = log.entries[index]
    previous = index == 0 ? Array(repeating: 0, count: 32) : log.entries[index - 1].mac
  }

  mutating func make(_ change: KeyChange) throws {
    switch change {
    case .reword: entries[index] = try sealed(try reworded(row), row.sequence, mac: row.mac)
    case .rewordWithMAC: entries[index] = try rewordedWithMAC()
    case .delete: delete()
    case .deleteAndRenumber:
      delete()
      for later in index..<entries.count {
        entries[later] = try sealed(
          try content(entries[later]), entries[later].sequence - 1, mac: entries[later].mac)
      }
    case .exchange:
      let other = log.entries[index - 1]
      entries[index] = try sealed(try content(other), row.sequence, mac: other.mac)
      entries[index - 1] = try sealed(try content(row), other.sequence, mac: row.mac)
    case .cutFromHere: cut()
    case .cutAndGoOn:
      cut()
      try goOn()
    case .cutAndNewSegment:
      cut()
      try beginSegment()
    }
    head.setNumber(try present(segments.last).number, at: 96)
    head.setNumber(try present(segments.last).first, at: 104)
  }

  func sealedHead() throws -> [UInt8] {
    try keys.seal(Labels.head, Labels.headNonce)
      .seal(head, aad: keys.part("head").encoded, random: SystemRandom())
  }

  private mutating func delete() {
    entries.remove(at: index)
    head.setNumber(UInt64(log.entries.count), at: 88)
  }

  /// Segments that begin later go as well.
  private mutating func cut() {
    entries.removeSubrange(index...)
    segments.removeAll { $0.first > row.sequence }
    head.setNumber(row.sequence, at: 88)
    head.replaceSubrange(144..<176, with: previous)
  }

  private mutating func goOn() throws {
    let forged = try rewordedWithMAC()
    entries.append(forged)
    head.setNumber(row.sequence + 1, at: 88)
    head.replaceSubrange(112..<144, with: log.moved(secret(112..<144), "vault/1/audit-next"))
    head.replaceSubrange(144..<176, with: forged.mac)
  }

  /// The chain of the segment to come is in the head row now: it begins a segment of the forger's own.
  private mutating func beginSegment() throws {
    segments = log.segments
    let number = try present(segments.last).number + 1
    segments.append(SegmentRow(number: number, first: row.sequence, previous: previous, start: []))
    head.replaceSubrange(112..<144, with: log.moved(secret(200..<232), "vault/1/audit-segment"))
    head.replaceSubrange(200..<232, with: log.moved(secret(200..<232), "vault/1/audit-chain"))
    head.replaceSubrange(144..<176, with: log.anchor(of: try present(segments.last)))
  }

  private func secret(_ range: Range<Int>) -> SecretBytes { SecretBytes(copying: Array(oldHead[range])) }

  private func data(_ sequence: UInt64) -> [UInt8] {
    var record = keys.part("audit")
    record.set(17, u64: sequence)
    return record.encoded
  }

  private func content(_ row: AuditRow) throws -> [UInt8] {
    try keys.seal(Labels.audit, Labels.auditNonce).open(row.body, aad: data(row.sequence))
  }

  private func sealed(_ content: [UInt8], _ sequence: UInt64, mac: [UInt8]) throws -> AuditRow {
    let seal = try keys.seal(Labels.audit, Labels.auditNonce)
    let body = try seal.seal(content, aad: data(sequence), random: SystemRandom())
    return AuditRow(sequence: sequence, body: body, mac: mac)
  }

  private func reworded(_ row: AuditRow) throws -> [UInt8] {
    var record = try Record(decoding: try content(row))
    record.set(7, u16: 10)
    return record.encoded
  }

  /// With the MAC's key that is in the head row now: the ones before it are gone.
  private func rewordedWithMAC() throws -> AuditRow {
    let content = try reworded(row)
    let mac = KeyedHMAC(key: secret(112..<144))
      .code(for: previous + log.bytes(row.sequence) + SHA256.hash(content))
    return try sealed(content, row.sequence, mac: mac)
  }
}

extension [UInt8] {
  fileprivate mutating func setNumber(_ number: UInt64, at offset: Int) {
    replaceSubrange(
      offset..<offset + 8, with: (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) })
  }
}
