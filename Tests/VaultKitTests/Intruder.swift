import Foundation
import SecretMemory
import VaultCrypto
import VaultKit
import VaultStorage
import VaultTestKit

/// Whoever can write the vault file, and, with ``keys()``, whoever also holds its device key: everything here is made
/// from the specification, with nothing of VaultKit but its labels.
struct Intruder {
  let place: TemporaryVault

  /// One transaction on the rows, with no key at all.
  func tamper<R>(_ body: (inout Store) throws(StorageError) -> R) throws -> R {
    var store = try Store.open(at: place.path, access: .readWrite)
    return try store.write { store throws(StorageError) in try body(&store) }
  }

  /// The root key of a generation, the newest where none is named, opened with the device key's file.
  func keys(generation: UInt32? = nil) throws -> RootKeys {
    let names = try FileManager.default.subpathsOfDirectory(atPath: place.folder + "/state")
    let file = try present(names.first { $0.hasSuffix(".key") })
    let data = try Data(contentsOf: URL(fileURLWithPath: place.folder + "/state/" + file))
    let (header, slots) = try tamper { store throws(StorageError) in (try store.header(), try store.slots()) }
    let vault = try Record(decoding: header.body).bytes(2)
    let roots = slots.filter { $0.kind == 1 && $0.opener == 1 }
    let slot = try present(
      roots.filter { generation == nil || $0.generation == generation }.max { $0.generation < $1.generation })
    let root = try CommittingSeal.open(
      slot.body, under: SecretBytes(copying: Array(data)), label: Labels.sealSlot,
      aad: RootKeys.slotData(slot, vault))
    return RootKeys(vault: vault, generation: slot.generation, root: root)
  }

  /// Changes the opened head row and seals it again.
  func changeHead(_ change: (inout [UInt8]) -> Void) throws {
    let keys = try keys()
    let seal = try keys.seal(Labels.head, Labels.headNonce)
    let body = try tamper { store throws(StorageError) in try store.head() }
    var content = try seal.open(body, aad: keys.part("head").encoded)
    change(&content)
    let sealed = try seal.seal(content, aad: keys.part("head").encoded, random: SystemRandom())
    try tamper { store throws(StorageError) in try store.setHead(sealed) }
  }

  /// Changes the header and authenticates it again.
  func changeHeader(_ change: (inout Record) -> Void) throws {
    let keys = try keys()
    let (row, slots) = try tamper { store throws(StorageError) in (try store.header(), try store.slots()) }
    var header = try Record(decoding: row.body)
    change(&header)
    let mac = keys.headerMAC(header, slots)
    try tamper { store throws(StorageError) in
      try store.setHeader(HeaderRow(body: header.encoded, mac: mac))
    }
  }
}

/// What the device key opens.
struct RootKeys: ~Copyable {
  let vault: [UInt8]
  let generation: UInt32
  let root: SecretBytes

  func seal(_ label: Label, _ nonce: Label) throws -> RecordSeal {
    try RecordSeal(root: root, label: label, nonceLabel: nonce, generation: generation)
  }

  /// A class key without a passcode, or of "after first unlock", and not of this device only.
  func classKey(_ number: UInt32, _ slots: [SlotRow]) throws -> SecretBytes {
    let slot = try present(slots.first { $0.kind == 3 && $0.subject == number && $0.opener == 4 })
    return try CommittingSeal.open(
      slot.body, under: HKDF.derive(from: root, label: Labels.slot), label: Labels.sealSlot,
      aad: Self.slotData(slot, vault))
  }

  /// The associated data of a slot's outer layer.
  static func slotData(_ slot: SlotRow, _ vault: [UInt8]) -> [UInt8] {
    var record = Record()
    record[1] = vault
    record[3] = Array("slot".utf8)
    record.set(4, u32: slot.generation)
    record.set(20, u8: slot.kind)
    record.set(21, u32: slot.subject)
    record.set(22, u8: slot.opener)
    record[23] = slot.openerID
    record.set(25, u8: 1)
    return record.encoded
  }

  func keysData(_ row: ItemRow, policy: [UInt8]) -> [UInt8] {
    var record = part("keys")
    record[2] = row.id.bytes
    record.set(4, u32: row.generation)
    record.set(6, u8: row.class)
    record[7] = SHA256.hash(policy)
    record.set(9, u32: row.kind)
    return record.encoded
  }

  func secretData(_ row: ItemRow, policy: [UInt8]) -> [UInt8] {
    var record = part("secret")
    record[2] = row.id.bytes
    record.set(5, u64: row.material)
    record[7] = SHA256.hash(policy)
    record.set(9, u32: row.kind)
    return record.encoded
  }

  func part(_ name: String) -> Record {
    var record = Record()
    record[1] = vault
    record[3] = Array(name.utf8)
    return record
  }

  func metaData(_ row: ItemRow) -> [UInt8] {
    var record = part("meta")
    record[2] = row.id.bytes
    record.set(4, u32: row.generation)
    record.set(5, u64: row.version)
    record.set(6, u8: row.class)
    record.set(8, u64: UInt64(row.row))
    record.set(9, u32: row.kind)
    record.set(10, u32: row.flags)
    record.set(11, i64: row.expires)
    record[12] = row.primaryKey.bytes
    record[13] = row.name?.bytes
    record.set(16, u64: row.material)
    return record.encoded
  }

  func headerMAC(_ header: Record, _ slots: [SlotRow]) -> [UInt8] {
    let list = slots.map { slot in
      var fields = Record()
      fields.set(1, u64: UInt64(slot.id))
      fields.set(2, u8: slot.kind)
      fields.set(3, u32: slot.subject)
      fields.set(4, u32: slot.generation)
      fields.set(5, u8: slot.opener)
      fields[6] = slot.openerID
      fields[7] = slot.body
      return fields.encoded
    }
    var whole = Record()
    whole[1] = header.encoded
    whole[2] = Record.list(list).encoded
    return KeyedHMAC(key: HKDF.derive(from: root, label: Labels.header)).code(for: whole.encoded)
  }
}

struct NothingThere: Error {}

/// The value, or an error where there is none.
func present<T>(_ value: T?) throws -> T {
  guard let value else { throw NothingThere() }
  return value
}
