import VaultFormat
import VaultKeys
import SecretMemory
import TextPreparation
import VaultCrypto

/// Members of the enrolled set, and the login password: how each proves itself, and the private half that it opens.
extension Authentication {
  mutating func shownMember(_ factors: FactorSlots) throws(VaultError) -> (Member, SharedSecret) {
    let members = try factors.enrolledSet().biometric
    if let shown = member ?? keptMember, let known = members.first(where: { $0.id == shown.id }) {
      member = shown
      return (known, shown.half)
    }
    let phrases = members.filter { $0.source == .phrase }
    let fingers = members.filter { $0.source == .finger }
    guard !members.isEmpty else { throw Gate.nobodyEnrolled }
    let shown: (Member, SharedSecret)
    if !phrases.isEmpty,
      fingers.isEmpty || asking.context?.biometry == nil || asking.context?.memory.given(.phrase) != nil
    {
      shown = try byPhrase(phrases, factors: factors)
    } else {
      shown = try byFinger(fingers, factors: factors)
    }
    member = (shown.0.id, shown.1)
    asking.keep(.member(shown.0.id, shown.1))
    return shown
  }

  var keptMember: (id: [UInt8], half: SharedSecret)? {
    for kept in asking.kept {
      if case .member(let id, let half) = kept.shown { return (id, half) }
    }
    return nil
  }

  private mutating func byPhrase(_ members: [Member], factors: FactorSlots) throws(VaultError)
    -> (Member, SharedSecret)
  {
    let count = BiometryCount(asking.item)
    let left = try core.refuseLockedBiometry(count)
    guard let derivation = factors.header.phraseDerivation else {
      throw VaultError(.damaged, "the members' key derivation is missing")
    }
    let core = core
    asking.members = members.map(\.label)
    return try asking.typed(.phrase, left: left) { (bytes, _) throws(VaultError) -> (Member, SharedSecret) in
      let phrase = try BiometricPhrase(bytes.copy())
      let prepared = try derivation.prepare(for: .phrase, in: core.environment)
      return try core.judgingBiometry(count) { () throws(VaultError) in
        try phrase.typed.firstRight { (form) throws(VaultError) in
          let root = SharedSecret(prepared.key(from: form))
          for member in members {
            if let half = try factors.half(of: member, phrase: root) { return (member, half) }
          }
          throw VaultError(.authenticationFailed, "that is no member's phrase")
        }
      }
    }
  }

  private mutating func byFinger(_ members: [Member], factors: FactorSlots) throws(VaultError)
    -> (Member, SharedSecret)
  {
    guard let context = asking.context, let source = context.biometry, !members.isEmpty else {
      throw asking.context == nil
        ? asking.nobodyToAsk(.finger)
        : VaultError(
          .unsupported, "the enrolled fingers need a fingerprint reader", hint: "use the passcode")
    }
    guard context.interaction == .allowed else { throw asking.nobodyToAsk(.finger) }
    // The passcode may just have unlocked the vault. The caller need not wait for a reader that hangs.
    asking.validity.call?.endUse()
    try asking.refuseInvalid()
    let count = BiometryCount(asking.item)
    try core.refuseLockedBiometry(count)
    // If the reader has a finger that is not in the set, that finger could pass for a member.
    guard try Set(source.enrolledFingers()) == Set(members.map(\.label)) else {
      throw Self.otherFingers
    }
    let asking = asking
    do throws(VaultError) {
      let shown = try core.judgingBiometry(count) { () throws(VaultError) -> (Member, SharedSecret) in
        let finger = try asking.finger(at: source, showingOn: context.prompt)
        // If the reader does not say which finger matched, any finger serves, because all fingers of the reader are
        // members.
        guard let member = members.first(where: { finger == nil || $0.label == finger }),
          let half = try factors.half(of: member, phrase: nil)
        else { throw VaultError(.authenticationFailed, "that finger is not enrolled") }
        return (member, half)
      }
      self.asking.noteAnswer(.finger)
      return shown
    } catch {
      if Self.unavailable.contains(error.code) { self.asking.isDeclined = true }
      throw self.asking.unanswered(.finger, error)
    }
  }

  // MARK: Login password

  /// The half of the login password, after a presence source has verified the person; `nil` if no source can be
  /// asked. PAM counts its own attempts.
  mutating func byLogin(_ member: Member, factors: FactorSlots) throws(VaultError) -> SharedSecret? {
    guard let context = asking.context, let source = context.presence, context.interaction == .allowed else {
      return nil
    }
    do throws(VaultError) {
      try asking.presence(from: source, throughPrompt: context.prompt ?? NobodyPrompt())
      guard let half = try factors.half(of: member, phrase: nil) else { throw VaultError(crypto: .malformed) }
      asking.noteAnswer(.presence)
      login = (member.id, half)
      asking.keep(.login(member.id, half))
      return half
    } catch {
      if Self.unavailable.contains(error.code) { asking.isDeclined = true }
      throw asking.unanswered(.login, error)
    }
  }

  var keptLogin: (id: [UInt8], half: SharedSecret)? {
    for kept in asking.kept {
      if case .login(let id, let half) = kept.shown { return (id, half) }
    }
    return nil
  }

  /// Errors of a source that cannot be asked now. If the rule allows another factor, that one is asked for.
  private static let unavailable: Set<VaultError.Code> = [.unsupported, .verificationUnavailable, .busy]

  private static var otherFingers: VaultError {
    VaultError(
      .unsupported, "biometry is unavailable: the reader's fingers are not those of the enrolled set",
      hint: .enrollFingersAgain)
  }
}
