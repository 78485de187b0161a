import SecretMemory
import VaultCrypto
import VaultStorage

/// What a first passcode forgets, because a former holder of the device key could have made it.
public struct ForgottenTrust: Sendable, Equatable {
  /// The names of members that somebody had enrolled.
  public internal(set) var members: [String] = []
  /// How many halves there were that something could be wrapped to.
  public internal(set) var factors = 0
  /// How many roots there were for segments of the audit log that have not begun.
  public internal(set) var auditRoots = 0
  /// Whether the old recovery code no longer works.
  public internal(set) var recoveryCode = false

  /// Whether there was nothing of the kind.
  public var isEmpty: Bool { self == ForgottenTrust() }
}

extension ForgottenTrust {
  /// For the audit log: numbers only, because an attacker may have chosen the names.
  var detail: String? {
    var parts: [String] = []
    if !members.isEmpty { parts.append("\(members.count) members") }
    if factors > 0 { parts.append("\(factors) factors") }
    if auditRoots > 0 { parts.append("\(auditRoots) audit roots") }
    if recoveryCode { parts.append("the recovery code") }
    return parts.isEmpty ? nil : "forgotten: " + parts.joined(separator: ", ")
  }
}

extension KeyChange {
  /// Forgets members, factors, the derivation of their phrases, revocations, and audit roots of segments that have not
  /// begun (section 5, “Setting a passcode resets trust”). The recovery half is the caller's to judge.
  ///
  /// - Parameter segment: The present segment of the audit log.
  mutating func forgetTrust(beyond segment: UInt32) throws(VaultError) -> ForgottenTrust {
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
