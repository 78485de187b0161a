import VaultStorage
package import DeviceKeys
package import VaultFormat
package import SecretMemory
import VaultCrypto

/// A new generation of every stored key. Of everything that a person types, only the passcode is needed.
extension KeyChange {
  /// The change that begins the next generation; the old generation stays readable.
  ///
  /// - Parameter passcode: The keys of the passcode, if one is set: the new class keys need it too.
  package func nextEpoch(with key: borrowing DeviceKey, passcode: PasscodeKeys?) throws(VaultError)
    -> KeyChange
  {
    guard keys.generation < .max - 1 else { throw Head.atEnd }
    guard let root = try? random.secret(32), let deviceRoot = try? random.secret(32) else {
      throw VaultError(crypto: .randomUnavailable)
    }
    let fresh = try GenerationKeys(
      generation: keys.generation + 1, root: root, deviceRoot: SharedSecret(deviceRoot))
    var next = KeyChange(header: header, slots: slots, keys: fresh, environment: environment)
    next.header.previousGeneration = keys.generation
    next.header.generation = fresh.generation
    try next.putRoots(under: key)
    try next.putRecovery()
    // The set as it is stored, revoked members included: the factor MAC at the end of this function covers it.
    if let record = try keys.enrolledRecord(of: header) { try next.seal(record) }
    try next.makeClassKeys(passcode)
    try next.moveFactors(from: keys)
    if let passcode { try next.makeTrust(passcode) }
    return next
  }

  /// The change that ends the old generation, when rows no longer name it.
  ///
  /// - Parameter trust: The trust key, where a passcode is set.
  package mutating func dropPreviousGeneration(trust: SharedSecret?) throws(VaultError) {
    guard let previous = header.previousGeneration else { return }
    slots.removeAll { $0.generation == previous }
    header.previousGeneration = nil
    if let trust { try authenticate(with: trust) }
  }

  private mutating func makeClassKeys(_ passcode: PasscodeKeys?) throws(VaultError) {
    for number: UInt32 in [2, 0x82] { try putBase(.classKey, subject: number, key: try freshKey()) }
    guard let passcode else {
      for number: UInt32 in [1, 0x81] { try putBase(.classKey, subject: number, key: try freshKey()) }
      return
    }
    for number: UInt32 in [1, 0x81, 0x83] {
      try putUnlock(.classKey, subject: number, key: try freshKey(), passcode: passcode)
    }
  }

  /// Factors and audit roots keep their keys and their inner layer; only the outer layer is sealed again.
  private mutating func moveFactors(from old: GenerationKeys) throws(VaultError) {
    for slot in slots {
      guard var address = SlotAddress(slot), address.kind == .factor || address.kind == .auditRoot,
        address.generation == old.generation
      else { continue }
      let before = address
      let content = try seal.outerLayer(of: slot, at: before, under: old.slotKey(for: before).bytes)
      address.generation = keys.generation
      let moved = address
      let body = try seal.seal(content, at: moved, under: slotKey(for: moved).bytes)
      slots.removeAll { $0.id == slot.id }
      put(moved, body)
    }
  }
}
