package import VaultFormat
import VaultStorage

extension KeyChange {
  /// Forgets members, factors, the derivation of their phrases, revocations, and audit roots of segments that have not
  /// begun (section 5, “Setting a passcode resets trust”). The caller decides about the recovery half.
  ///
  /// - Parameter segment: The current segment of the audit log.
  package mutating func forgetTrust(beyond segment: UInt32) throws(VaultError) -> ForgottenTrust {
    var forgotten = ForgottenTrust()
    forgotten.members = try keys.enrolledSet(of: header).members.map(\.label)
    forgotten.factors = header.factors.count
    let isPlanted = { (slot: SlotRow) in
      slot.kind == SlotKind.auditRoot.rawValue && slot.subject > segment
    }
    forgotten.auditRoots = slots.count(where: isPlanted)
    slots.removeAll(where: isPlanted)
    try forgetMembers()
    return forgotten
  }
}
