import Foundation
import SecretMemory
import VaultCrypto
import VaultKit
import VaultStorage
import VaultTestKit

/// What a holder of the device key can forge of header and slots: every seal of it is right.
extension Intruder {
  /// Changes header and slots and authenticates them again; with `config` + 1 in the head row too where wanted.
  func changeKeys(
    nextConfig: Bool = false, _ change: (inout Record, inout [SlotRow], borrowing RootKeys) throws -> Void
  ) throws {
    let keys = try keys()
    let (row, stored) = try tamper { store throws(StorageError) in (try store.header(), try store.slots()) }
    var header = try Record(decoding: row.body)
    var slots = stored
    let config = try header.u64(4) + 1
    if nextConfig { header.set(4, u64: config) }
    try change(&header, &slots, keys)
    let mac = keys.headerMAC(header, slots)
    try tamper { [slots] store throws(StorageError) in
      try store.replaceSlots(slots)
      try store.setHeader(HeaderRow(body: header.encoded, mac: mac))
    }
    if nextConfig { try changeHead { $0.replaceSubrange(8..<16, with: header[4]!) } }
  }

  /// The header as it is.
  func header() throws -> Record {
    try Record(decoding: tamper { store throws(StorageError) in try store.header() }.body)
  }

  /// The device key itself.
  func deviceKey() throws -> SecretBytes {
    let names = try FileManager.default.subpathsOfDirectory(atPath: place.folder + "/state")
    let file = try present(names.first { $0.hasSuffix(".key") })
    return SecretBytes(
      copying: Array(try Data(contentsOf: URL(fileURLWithPath: place.folder + "/state/" + file))))
  }
}

extension RootKeys {
  /// The key of slots that need no this-device root key.
  var slotKey: SecretBytes { HKDF.derive(from: root, label: Labels.slot) }

  /// The associated data of header field 14.
  var enrolledData: [UInt8] { part("enrolled").encoded }

  /// Header field 14 with another record in it.
  func sealSet(_ record: Record) throws -> [UInt8] {
    try seal(Labels.meta, Labels.metaNonce).seal(record.encoded, aad: enrolledData, random: SystemRandom())
  }

  /// The record of header field 14.
  func openSet(_ sealed: [UInt8]) throws -> Record {
    try Record(decoding: seal(Labels.meta, Labels.metaNonce).open(sealed, aad: enrolledData))
  }

  /// A slot with one layer.
  func slot(
    _ id: Int64, _ kind: UInt8, subject: UInt32 = 0, opener: UInt8 = 4, openerID: [UInt8] = [],
    _ key: borrowing SecretBytes, under outer: borrowing SecretBytes
  ) throws -> SlotRow {
    var slot = SlotRow(
      id: id, kind: kind, subject: subject, generation: generation, opener: opener, openerID: openerID,
      body: [])
    slot.body = try CommittingSeal.seal(
      key, under: outer, label: Labels.sealSlot, aad: Self.slotData(slot, vault), random: SystemRandom())
    return slot
  }
}

/// The record of an enrolled set of one finger, made from the specification.
func forgedSet(generation: UInt32, id: [UInt8], factor: UInt32, label: String) -> Record {
  var member = Record()
  member[1] = id
  member.set(2, u8: 2)
  member.set(3, string: label)
  member.set(4, i64: 1)
  member.set(5, u32: factor)
  var set = Record()
  set.set(1, u32: generation)
  set[2] = SHA256.hash(Record.list([Array(label.utf8)]).encoded)
  set[3] = Record.list([member.encoded]).encoded
  return set
}
