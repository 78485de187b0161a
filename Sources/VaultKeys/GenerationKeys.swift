package import VaultFormat
package import SecretMemory
package import VaultCrypto

/// The keys of one generation: the root keys and everything derived from them (section 3).
package final class GenerationKeys: Sendable {
  package let generation: UInt32
  package let root: SecretBytes
  package let deviceRoot: SharedSecret?
  package let headerMAC: KeyedHMAC
  package let index: KeyedHMAC
  package let sum: KeyedHMAC
  package let meta: RecordSeal
  package let state: RecordSeal
  package let head: RecordSeal
  package let audit: RecordSeal
  private let slotKey: SharedSecret
  private let deviceSlotKey: SharedSecret?

  package init(generation: UInt32, root: consuming SecretBytes, deviceRoot: SharedSecret?)
    throws(VaultError)
  {
    self.generation = generation
    headerMAC = KeyedHMAC(key: HKDF.derive(from: root, label: Labels.header))
    index = KeyedHMAC(key: HKDF.derive(from: root, label: Labels.index))
    sum = KeyedHMAC(key: HKDF.derive(from: root, label: Labels.sum))
    meta = try Self.seal(root, label: Labels.meta, nonceLabel: Labels.metaNonce, generation: generation)
    state = try Self.seal(root, label: Labels.state, nonceLabel: Labels.stateNonce, generation: generation)
    head = try Self.seal(root, label: Labels.head, nonceLabel: Labels.headNonce, generation: generation)
    audit = try Self.seal(root, label: Labels.audit, nonceLabel: Labels.auditNonce, generation: generation)
    slotKey = SharedSecret(HKDF.derive(from: root, label: Labels.slot))
    self.deviceRoot = deviceRoot
    if let deviceRoot {
      deviceSlotKey = SharedSecret(
        HKDF.derive(from: root, and: deviceRoot.bytes, info: Labels.slotDevice.utf8, byteCount: 32))
    } else {
      deviceSlotKey = nil
    }
    self.root = root
  }

  /// Whether these are the same keys, or those of a later generation.
  package func isOrFollows(_ other: GenerationKeys) -> Bool {
    generation > other.generation
      || generation == other.generation && root.isEqualInConstantTime(to: other.root)
  }

  private static func seal(
    _ root: borrowing SecretBytes, label: Label, nonceLabel: Label, generation: UInt32
  ) throws(VaultError) -> RecordSeal {
    do throws(CryptoError) {
      return try RecordSeal(root: root, label: label, nonceLabel: nonceLabel, generation: generation)
    } catch { throw VaultError(crypto: error) }
  }

  /// The values by which items are looked up without any attribute in clear.
  package var blindIndex: BlindIndex { BlindIndex(key: self) }
  /// What a row adds to the sum of the head row.
  package var summand: Summand { Summand(key: self) }

  /// Frees the ciphers of the rows, the only keys in ordinary memory; they are derived again when needed.
  package func releaseCiphers() {
    for seal in [meta, state, head, audit] { seal.releaseCiphers() }
  }

  /// The outer key of a slot: `K_slot`, or `K_slot_device` for a this-device-only class.
  package func slotKey(for address: SlotAddress) throws(VaultError) -> SharedSecret {
    guard address.isThisDeviceOnly else { return slotKey }
    guard let deviceSlotKey else {
      throw VaultError(.policy, "this class of items opens with its own device key only")
    }
    return deviceSlotKey
  }
}
