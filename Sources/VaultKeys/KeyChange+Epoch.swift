import VaultStorage
package import DeviceKeys
package import VaultFormat
package import SecretMemory
import VaultCrypto

/// A new generation of every key that is stored. What a person types is not asked for but the passcode.
extension KeyChange {
  /// The change that begins the next generation; the old one stays readable beside it.
  ///
  /// - Parameter passcode: The keys of the passcode, where one is set: new class keys lie behind it too.
  package func nextEpoch(_ key: borrowing DeviceKey, _ passcode: PasscodeKeys?) throws(VaultError)
    -> KeyChange
  {
    guard keys.generation < .max - 1 else { throw Head.atEnd }
    guard let root = try? random.secret(32), let deviceRoot = try? random.secret(32) else {
      throw VaultError(crypto: .randomUnavailable)
    }
    let fresh = try GenerationKeys(
      generation: keys.generation + 1, root: root, deviceRoot: SharedSecret(deviceRoot))
    var next = KeyChange(header: header, slots: slots, keys: fresh, random: random)
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

  /// The change that ends the old generation, when no row names it any more.
  ///
  /// - Parameter trust: The trust key, where a passcode is set.
  package mutating func dropPreviousGeneration(trust: SharedSecret?) throws(VaultError) {
    guard let previous = header.previousGeneration else { return }
    slots.removeAll { $0.generation == previous }
    header.previousGeneration = nil
    if let trust { try authenticate(with: trust) }
  }

  private mutating func makeClassKeys(_ passcode: PasscodeKeys?) throws(VaultError) {
    for number: UInt32 in [2, 0x82] { try putBase(.classKey, number, try freshKey()) }
    guard let passcode else {
      for number: UInt32 in [1, 0x81] { try putBase(.classKey, number, try freshKey()) }
      return
    }
    for number: UInt32 in [1, 0x81, 0x83] { try putUnlock(.classKey, number, try freshKey(), passcode) }
  }

  /// Factors and audit roots keep their keys and their inner layer; only the outer one is sealed anew.
  private mutating func moveFactors(from old: GenerationKeys) throws(VaultError) {
    for slot in slots {
      guard var address = SlotAddress(slot), address.kind == .factor || address.kind == .auditRoot,
        address.generation == old.generation
      else { continue }
      let before = address
      let content = try old.withSlotKey(for: before) { outer throws(VaultError) in
        try crypto { () throws(CryptoError) in try seal.outerContent(slot.body, at: before, under: outer) }
      }
      address.generation = keys.generation
      let moved = address
      let body = try layered(moved) { outer throws(VaultError) in
        try seal.seal(content, at: moved, under: outer)
      }
      slots.removeAll { $0.id == slot.id }
      put(moved, body)
    }
  }
}
