import VaultStorage

/// The rules that header, slots and enrolled set must meet together (section 5). They are checked after the header MAC,
/// because a holder of the device key can make a right MAC, and could plant something that is trusted later.
extension Header {
  /// - Parameter set: As it is stored, with the members that were removed while the vault was locked.
  /// - Throws: ``VaultError/Code/damaged``.
  func check(_ slots: [SlotRow], _ set: EnrolledSet) throws(VaultError) {
    guard hasPasscode ? factorMAC != nil : hasNothingOfPasscode(slots, set) else { throw Self.altered }
    let revoked = revoked
    let members = Set(set.members.filter { !revoked.contains($0.factor) }.map(\.id))
    var places: Set<SlotPlace> = []
    for slot in slots {
      guard places.insert(SlotPlace(slot)).inserted else { throw Self.altered }
      guard let address = SlotAddress(slot) else { continue }
      guard isInForce(address.generation), isRight(address, members) else { throw Self.altered }
    }
  }

  /// Factors, members and their slots do not outlive the passcode; a recovery code and a set without a member do.
  private func hasNothingOfPasscode(_ slots: [SlotRow], _ set: EnrolledSet) -> Bool {
    [13, 15, 16, 19].allSatisfy { record[$0] == nil } && set.members.isEmpty
      && !slots.contains { $0.kind == SlotKind.factor.rawValue }
  }

  private func isInForce(_ generation: UInt32) -> Bool {
    generation == self.generation || generation == previousGeneration
  }

  /// Whether this opener may open this kind of slot. With a passcode, an opener that does not need it is refused
  /// (except for afterFirstUnlock classes), because the device key's holder can make such a slot.
  private func isRight(_ address: SlotAddress, _ members: Set<[UInt8]>) -> Bool {
    let opener = address.opener
    let hasID = opener == .deviceKey || opener == .member
    guard address.openerID.count == (hasID ? 16 : 0) else { return false }
    switch address.kind {
    case .root:
      if isBackup { return opener == .passphrase }
      return opener == .deviceKey || opener == .recovery && recoveryHalf != nil
    case .deviceRoot: return opener == .deviceKey && !isBackup
    case .classKey: return opener == (hasPasscode && !address.isAfterFirstUnlock ? .unlock : .base)
    case .auditRoot: return opener == (hasPasscode ? .unlock : .base)
    case .factor:
      guard isAlive(Factor(rawValue: address.subject)) else { return false }
      return opener == .prompt || opener == .any || opener == .member && members.contains(address.openerID)
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

/// What no two slots may have in common, whether or not their kind and opener are known.
private struct SlotPlace: Hashable {
  let kind: UInt8
  let subject: UInt32
  let generation: UInt32
  let opener: UInt8
  let openerID: [UInt8]

  init(_ slot: SlotRow) {
    (kind, subject, generation) = (slot.kind, slot.subject, slot.generation)
    (opener, openerID) = (slot.opener, slot.openerID)
  }
}
