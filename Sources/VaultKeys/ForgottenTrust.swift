/// What setting a first passcode forgets, because a former holder of the device key could have made it.
public struct ForgottenTrust: Sendable, Equatable {
  /// The names of the members that were enrolled.
  public package(set) var members: [String] = []
  /// The number of halves that keys could be wrapped to.
  public package(set) var factors = 0
  /// The number of audit roots for segments that have not begun.
  public package(set) var auditRoots = 0
  /// Whether the old recovery code no longer works.
  public package(set) var recoveryCode = false

  package init() {}

  /// Whether nothing was forgotten.
  public var isEmpty: Bool { self == ForgottenTrust() }
}

extension ForgottenTrust {
  /// For the audit log: numbers only, because an attacker may have chosen the names.
  package var detail: String? {
    var parts: [String] = []
    if !members.isEmpty { parts.append("\(members.count) members") }
    if factors > 0 { parts.append("\(factors) factors") }
    if auditRoots > 0 { parts.append("\(auditRoots) audit roots") }
    if recoveryCode { parts.append("the recovery code") }
    return parts.isEmpty ? nil : "forgotten: " + parts.joined(separator: ", ")
  }
}
