import SecretMemory
import VaultCrypto
import VaultKit
import VaultStorage
import VaultTestKit

/// What a program of another version writes of an item, made from the specification: everything is sealed and summed as
/// it must be. Whoever has only the device key can do this in a vault without a passcode.
extension Intruder {
  /// Gives an item another policy and other clear columns, and seals its keys and its secret for them.
  ///
  /// - Parameter content: Makes the content of `keys` from the data key.
  func rewrite(
    _ item: Item, change: (inout Record, inout ItemRow) -> Void,
    content: (borrowing SecretBytes) -> SecretBytes
  ) throws {
    let keys = try keys()
    let seal = try keys.seal(Labels.meta, Labels.metaNonce)
    let (old, material, slots) = try tamper { store throws(StorageError) in
      (try store.item(row: item.row), try store.material(row: item.row), try store.slots())
    }
    var row = try present(old)
    let sealed = try present(material)
    var meta = try Record(decoding: try seal.open(row.meta, aad: keys.metaData(row)))
    let classKey = try keys.classKey(UInt32(row.class), slots)
    let policy = try meta.record(2).encoded
    let dataKey = try CommittingSeal.open(
      sealed.keys, under: classKey, label: Labels.sealKeys, aad: keys.keysData(row, policy: policy)
    ).expose { SecretBytes(copying: $0.extracting(1..<33)) }
    let secret = try CommittingSeal.open(
      sealed.secret, under: dataKey, label: Labels.sealSecret, aad: keys.secretData(row, policy: policy))
    let sums = SumKeys(keys)
    let before = [sums.value(of: row), sums.value(of: sealed, row: row.row)]
    var record = try meta.record(2)
    change(&record, &row)
    meta.set(2, record: record)
    row.meta = try seal.seal(meta.encoded, aad: keys.metaData(row), random: SystemRandom())
    let new = MaterialRow(
      keys: try CommittingSeal.seal(
        content(dataKey), under: classKey, label: Labels.sealKeys,
        aad: keys.keysData(row, policy: record.encoded), random: SystemRandom()),
      secret: try CommittingSeal.seal(
        secret, under: dataKey, label: Labels.sealSecret, aad: keys.secretData(row, policy: record.encoded),
        random: SystemRandom()))
    try tamper { [row] store throws(StorageError) in
      _ = try store.updateItem(row)
      try store.setMaterial(new, row: row.row)
    }
    try changeSum(from: before, to: [sums.value(of: row), sums.value(of: new, row: row.row)])
  }

  /// Gives an item a state row, as a later version does for a kind of its own.
  func addState(of item: Item) throws {
    let body = try seal([1, 0, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 154), asStateOf: item)
    try changeSum(from: [], to: [SumKeys(keys()).value(ofState: body, row: item.row)])
    try changeHead { $0[47] += 1 }
  }

  /// Writes the state row of an item. The sum stays as it was.
  @discardableResult
  func seal(_ content: [UInt8], asStateOf item: Item) throws -> [UInt8] {
    let keys = try keys()
    let seal = try keys.seal(Labels.state, Labels.stateNonce)
    var bound = keys.part("state")
    bound[2] = item.id.bytes
    bound.set(15, u64: 1)
    let body = try seal.seal(content, aad: bound.encoded, random: SystemRandom())
    try tamper { store throws(StorageError) in
      try store.setState(StateRow(revision: 1, body: body), row: item.row)
    }
    return body
  }

  /// The sum in the head row is sealed for the device key as well.
  func changeSum(from before: [[UInt8]], to after: [[UInt8]]) throws {
    try changeHead { head in
      var sum = Array(head[48..<80])
      for value in before { Self.subtract(value, from: &sum) }
      for value in after { Self.add(value, to: &sum) }
      head.replaceSubrange(48..<80, with: sum)
    }
  }

  private static func add(_ value: [UInt8], to sum: inout [UInt8]) {
    var carry = 0
    for index in (0..<32).reversed() {
      carry += Int(sum[index]) + Int(value[index])
      sum[index] = UInt8(carry & 255)
      carry >>= 8
    }
  }

  private static func subtract(_ value: [UInt8], from sum: inout [UInt8]) {
    var borrow = 0
    for index in (0..<32).reversed() {
      let difference = Int(sum[index]) - Int(value[index]) - borrow
      borrow = difference < 0 ? 1 : 0
      sum[index] = UInt8(difference & 255)
    }
  }
}

/// What a row adds to the sum, from the format.
struct SumKeys: ~Copyable {
  private let key: SecretBytes

  init(_ keys: borrowing RootKeys) { key = HKDF.derive(from: keys.root, label: Labels.sum) }

  func value(of row: ItemRow) -> [UInt8] { value(1, row.row, row.meta.suffix(16)) }

  func value(of material: MaterialRow, row: Int64) -> [UInt8] {
    value(2, row, material.keys.suffix(16) + material.secret.suffix(16))
  }

  func value(ofState body: [UInt8], row: Int64) -> [UInt8] { value(3, row, body.suffix(16)) }

  private func value(_ table: UInt8, _ row: Int64, _ tags: ArraySlice<UInt8>) -> [UInt8] {
    let number = (0..<8).map { UInt8(truncatingIfNeeded: row >> (56 - 8 * $0)) }
    return KeyedHMAC(key: key).code(for: [table] + number + tags)
  }
}
