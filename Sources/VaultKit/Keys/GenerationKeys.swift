import SecretMemory
import VaultCrypto
import VaultStorage

/// The keys of one generation: the root keys and everything derived from them (section 3).
final class GenerationKeys: Sendable {
  let generation: UInt32
  let root: SecretBytes
  let deviceRoot: StoredKey?
  let headerMAC: KeyedHMAC
  let index: KeyedHMAC
  let sum: KeyedHMAC
  let meta: RecordSeal
  let state: RecordSeal
  let head: RecordSeal
  let audit: RecordSeal
  private let slotKey: SecretBytes
  private let deviceSlotKey: StoredKey?

  init(generation: UInt32, root: consuming SecretBytes, deviceRoot: StoredKey?)
    throws(VaultError)
  {
    self.generation = generation
    headerMAC = KeyedHMAC(key: HKDF.derive(from: root, label: Labels.header))
    index = KeyedHMAC(key: HKDF.derive(from: root, label: Labels.index))
    sum = KeyedHMAC(key: HKDF.derive(from: root, label: Labels.sum))
    meta = try Self.seal(root, Labels.meta, Labels.metaNonce, generation)
    state = try Self.seal(root, Labels.state, Labels.stateNonce, generation)
    head = try Self.seal(root, Labels.head, Labels.headNonce, generation)
    audit = try Self.seal(root, Labels.audit, Labels.auditNonce, generation)
    slotKey = HKDF.derive(from: root, label: Labels.slot)
    self.deviceRoot = deviceRoot
    if let deviceRoot {
      deviceSlotKey = StoredKey(
        HKDF.derive(from: root, and: deviceRoot.key, info: Labels.slotDevice.utf8, byteCount: 32))
    } else {
      deviceSlotKey = nil
    }
    self.root = root
  }

  private static func seal(
    _ root: borrowing SecretBytes, _ label: Label, _ nonceLabel: Label, _ generation: UInt32
  ) throws(VaultError) -> RecordSeal {
    do throws(CryptoError) {
      return try RecordSeal(root: root, label: label, nonceLabel: nonceLabel, generation: generation)
    } catch { throw VaultError(crypto: error) }
  }

  /// Frees the ciphers of the rows, the only keys in ordinary memory; they are derived again when needed.
  func releaseCiphers() {
    for seal in [meta, state, head, audit] { seal.releaseCiphers() }
  }

  /// Lends the outer key of a slot: `K_slot`, or `K_slot_device` for a this-device-only class.
  func withSlotKey<R: ~Copyable>(
    for address: SlotAddress, _ body: (borrowing SecretBytes) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    guard address.isThisDeviceOnly else { return try body(slotKey) }
    guard let deviceSlotKey else {
      throw VaultError(.policy, "this class of items opens with its own device key only")
    }
    return try body(deviceSlotKey.key)
  }
}

/// A stored key in the arena: shared, and absent where nothing has opened it.
final class StoredKey: Sendable {
  let key: SecretBytes
  init(_ key: consuming SecretBytes) { self.key = key }
}

/// Which class key: the class number and the generation.
struct ClassKeyName: Hashable, Sendable {
  let number: UInt8
  let generation: UInt32

  init(number: UInt8, generation: UInt32) {
    self.number = number
    self.generation = generation
  }

  init(_ address: SlotAddress) {
    self.init(number: UInt8(truncatingIfNeeded: address.subject), generation: address.generation)
  }
}
