import VaultCrypto
package import VaultStorage

/// The rules that header, slots and enrolled set must meet together (section 5). They are checked after the header MAC,
/// because a holder of the device key can make a valid MAC, and could plant something that the vault trusts later.
extension Header {
  /// - Parameter set: The set as it is stored, including members that were removed while the vault was locked.
  /// - Throws: ``VaultError/Code/damaged``.
  package func check(_ slots: [SlotRow], set: EnrolledSet) throws(VaultError) {
    guard hasPasscode ? isVouchedFor(slots) : hasNothingOfPasscode(slots, set: set) else {
      throw Self.altered
    }
    guard hasEveryKey(slots) else { throw Self.altered }
    let revoked = revoked
    let members = Set(set.members.filter { !revoked.contains($0.factor) }.map(\.id))
    let places = slots.map(SlotPlace.init).sorted(by: <)
    guard !zip(places, places.dropFirst()).contains(where: ==) else { throw Self.altered }
    for slot in slots {
      guard let address = SlotAddress(slot) else { continue }
      guard isInForce(address), isRight(address, members: members), slot.body.count >= Self.shortestSlot
      else {
        throw Self.altered
      }
    }
  }

  /// Whether field 16 and its key exist. The key has only one slot, because no two slots have the same place.
  private func isVouchedFor(_ slots: [SlotRow]) -> Bool {
    factorMAC != nil && slots.contains { SlotAddress($0)?.kind == .trust }
  }

  /// Without a passcode, factors, members and their slots must be absent; a recovery code and a set without a member
  /// may stay.
  private func hasNothingOfPasscode(_ slots: [SlotRow], set: EnrolledSet) -> Bool {
    factors.isEmpty && phraseDerivation == nil && factorMAC == nil && revoked.isEmpty && set.members.isEmpty
      && !slots.contains { $0.kind == SlotKind.factor.rawValue || $0.kind == SlotKind.trust.rawValue }
  }

  /// Whether the keys that every vault needs exist. After a recovery in the middle of a rotation, this-device keys are
  /// only of the current generation. With a passcode, this-device classes may be missing: the next unlock makes them.
  private func hasEveryKey(_ slots: [SlotRow]) -> Bool {
    let addresses = slots.compactMap { SlotAddress($0) }
    func isThere(_ kind: SlotKind, _ subject: UInt32, _ generation: UInt32) -> Bool {
      addresses.contains { $0.kind == kind && $0.subject == subject && $0.generation == generation }
    }
    let generations = [generation] + (previousGeneration.map { [$0] } ?? [])
    guard generations.allSatisfy({ isThere(.classKey, 1, $0) && isThere(.classKey, 2, $0) }) else {
      return false
    }
    if isBackup { return true }
    return isThere(.deviceRoot, 0, generation) && isThere(.classKey, 0x82, generation)
      && (hasPasscode || isThere(.classKey, 0x81, generation))
  }

  /// The length of a key in one layer; no slot is shorter.
  private static let shortestSlot = 32 + CommittingSeal.overhead

  /// During a rotation, root keys and class keys are of two generations; all other keys are of the current one.
  private func isInForce(_ address: SlotAddress) -> Bool {
    switch address.kind {
    case .root, .deviceRoot, .classKey:
      address.generation == generation || address.generation == previousGeneration
    case .factor, .auditRoot, .trust: address.generation == generation
    }
  }

  /// Whether this opener may open this kind of slot. With a passcode, an opener that does not need it is refused
  /// (except for afterFirstUnlock classes), because the device key's holder can make such a slot.
  private func isRight(_ address: SlotAddress, members: Set<[UInt8]>) -> Bool {
    let opener = address.opener
    let hasID = opener == .deviceKey || opener == .member
    guard address.openerID.count == (hasID ? 16 : 0) else { return false }
    switch address.kind {
    case .root:
      guard address.subject == 0 else { return false }
      if isBackup { return opener == .passphrase }
      return isOwn(address) || opener == .recovery && recoveryHalf != nil
    case .deviceRoot: return isOwn(address) && address.subject == 0 && !isBackup
    case .classKey:
      guard isClass(address.subject) else { return false }
      return opener == (hasPasscode && !address.isAfterFirstUnlock ? .unlock : .base)
    case .auditRoot: return opener == (hasPasscode ? .unlock : .base)
    case .trust: return opener == .unlock && address.subject == 0
    case .factor:
      guard isAlive(Factor(rawValue: address.subject)) else { return false }
      return opener == .prompt || opener == .any || opener == .member && members.contains(address.openerID)
    }
  }

  private func isOwn(_ address: SlotAddress) -> Bool {
    address.opener == .deviceKey && address.openerID == deviceKey.bytes
  }

  /// Whether a vault of this kind may have this class: a backup never has a this-device class, and whenPasscodeSet
  /// needs a passcode.
  private func isClass(_ number: UInt32) -> Bool {
    switch number {
    case 1, 2: true
    case 0x81, 0x82: !isBackup
    case 0x83: !isBackup && hasPasscode
    default: false
    }
  }

  private static var altered: VaultError {
    VaultError(
      .damaged, "the vault's keys were altered or are damaged", hint: "restore the vault file from a backup")
  }
}

extension SlotAddress {
  fileprivate var isAfterFirstUnlock: Bool { subject & 0x7F == 2 }
}

/// The fields that no two slots may have in common, whether or not their kind and opener are known.
private struct SlotPlace: Equatable {
  let kind: UInt8
  let subject: UInt32
  let generation: UInt32
  let opener: UInt8
  let openerID: [UInt8]

  init(_ slot: SlotRow) {
    (kind, subject, generation) = (slot.kind, slot.subject, slot.generation)
    (opener, openerID) = (slot.opener, slot.openerID)
  }

  static func < (one: SlotPlace, other: SlotPlace) -> Bool {
    let numbers = (one.kind, one.subject, one.generation, one.opener)
    let others = (other.kind, other.subject, other.generation, other.opener)
    return numbers == others ? one.openerID.lexicographicallyPrecedes(other.openerID) : numbers < others
  }
}
