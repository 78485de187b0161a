public import VaultKit

extension ItemKind {
  /// A one-time-password credential (HOTP, TOTP, Steam).
  public static let otp = ItemKind(rawValue: 16)
}

extension Component {
  /// One-time-password credentials.
  package static let otp = Component(.otp)
}

extension KindRules {
  static let otp = KindRules(
    .otp, word: "otp", isListedAlone: true,
    secret: .component(
      name: "a one-time-password credential",
      hint: .useCredential),
    goesToTrash: true, attributes: AttributeRules(namelessHasOwner: true),
    state: StateRules(
      .always,
      counter: { attributes in
        guard attributes.countCodes else { return nil }
        return attributes[.otpRole] == 1 ? .prover : .verifier
      },
      keep: { restored, newer in
        restored.codesSinceSynchronization = max(
          restored.codesSinceSynchronization, newer.codesSinceSynchronization)
        switch CredentialState(number: newer.progress) {
        case .disabled: restored.set(CredentialState.disabled)
        // The unlock may be over at the peer. The block is not.
        case .blocked, .unlockStarted: restored.set(CredentialState.blocked)
        default: break
        }
      }),
    policy: PolicyRules(canHavePIN: true),
    operations: [
      AuditOperation.Meaning(.codeGenerated, "codeGenerated", .authFlow),
      AuditOperation.Meaning(.codeVerified, "codeVerified", .authFlow),
      AuditOperation.Meaning(.resynchronized, "resynchronized", .authFlow),
      AuditOperation.Meaning(.counterSet, "counterSet", .authFlow),
      AuditOperation.Meaning(.activationStarted, "activationStarted", .authFlow),
      AuditOperation.Meaning(.activated, "activated", .authFlow),
      AuditOperation.Meaning(.activationEnded, "activationEnded", .authFlow, isChange: false),
      AuditOperation.Meaning(.synchronized, "synchronized", .authFlow),
      AuditOperation.Meaning(.unlockStarted, "unlockStarted", .authFlow),
      AuditOperation.Meaning(.stateChanged, "stateChanged", .authFlow),
    ],
    facts: { $0.credentialFacts }, weakness: { $0.credentialWeakness })
}

extension AuditOperation {
  /// A one-time code was generated.
  package static let codeGenerated = AuditOperation(rawValue: 13)
  /// A one-time code was verified.
  package static let codeVerified = AuditOperation(rawValue: 14)
  /// A counter was resynchronized.
  package static let resynchronized = AuditOperation(rawValue: 15)
  /// A counter was set by hand.
  package static let counterSet = AuditOperation(rawValue: 16)
  /// The peer accepted the first code of an activation.
  package static let activationStarted = AuditOperation(rawValue: 41)
  /// An activation was finished.
  package static let activated = AuditOperation(rawValue: 42)
  /// An activation ended without a credential: its time was over, or the peer refused the second code.
  package static let activationEnded = AuditOperation(rawValue: 43)
  /// A credential was synchronized with its peer.
  package static let synchronized = AuditOperation(rawValue: 44)
  /// The peer began an unlock of a credential.
  package static let unlockStarted = AuditOperation(rawValue: 45)
  /// The peer blocked, unblocked or disabled a credential.
  package static let stateChanged = AuditOperation(rawValue: 46)
}

extension Attributes {
  /// HOTP, or a suite with `C`.
  fileprivate var countCodes: Bool {
    self[.otpType] == 1
      || self[.otpType] == 4 && self[.ocraSuite]?.split(separator: ":").last?.hasPrefix("C-") == true
  }

  fileprivate var credentialWeakness: String? {
    let bits = self[.otpSecretBits].map { "a secret of \($0) bits" }
    let isSteam = self[.otpType] == 3
    let digits = self[.otpDigits].flatMap { isSteam || $0 >= 6 ? nil : "codes of \($0) digits" }
    let parts = [bits, digits].compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: " and ")
  }

  fileprivate var credentialFacts: [KindRules.Fact] {
    let types: [Int64: String] = [1: "hotp", 2: "totp", 3: "steam", 4: "ocra", 5: "activation"]
    let algorithms: [Int64: String] = [1: "SHA1", 2: "SHA256", 3: "SHA512"]
    var facts: [KindRules.Fact] = []
    if let type = self[.otpType].flatMap({ types[$0] }) { facts.append(.init("type", type)) }
    if let role = self[.otpRole] { facts.append(.init("role", role == 2 ? "verifier" : "prover")) }
    if let name = self[.otpAlgorithm].flatMap({ algorithms[$0] }) { facts.append(.init("algorithm", name)) }
    if let digits = self[.otpDigits] { facts.append(.init("digits", digits)) }
    if let suite = self[.ocraSuite] { facts.append(.init("suite", suite)) }
    if let weakness = credentialWeakness { facts.append(.init("weak", weakness)) }
    if self[.otpType] != 1, let period = self[.otpPeriod] { facts.append(.init("period", period)) }
    if self[.otpRole] == 2, let window = self[.otpWindow] { facts.append(.init("window", window)) }
    return facts
  }
}

extension Hint {
  package static let useCredential: Hint = """
    \("make codes with it", tool: "use 'vaultctl code'"), or \("export it through its component", tool: "'vaultctl otp export' to take it out")
    """
}
