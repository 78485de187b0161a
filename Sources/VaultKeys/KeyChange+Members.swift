import VaultStorage
package import VaultFormat
package import SecretMemory
import VaultCrypto

/// Changes of the enrolled set, and of the login password beside it. Each change touches a few slots and no item.
extension KeyChange {
  /// Enrolls a new member. It opens `any` and, like all other members, the set of the next generation.
  ///
  /// - Parameters:
  ///   - phrase: The key derived from the phrase, and its derivation; `nil` for a member without its own key.
  ///   - passcode: Opens `any` and presence for the new member.
  ///   - trust: The trust key, which authenticates the halves that keys are wrapped to.
  package mutating func enroll(
    _ label: String, source: MemberSource, phrase: PasswordKey?, passcode: PasscodeKeys,
    trust: SharedSecret, now: Instant
  ) throws(VaultError) {
    var set = try keys.enrolledSet(of: header)
    forgetRevoked()
    if let phrase { header.phraseDerivation = phrase.derivation }
    let member = try newMember(label, source: source, set: set, now: now, phrase: phrase)
    let open = FactorSlots(header: header, slots: slots, keys: keys, random: random)
    let any = try open.half(of: .any, by: passcode)
    try putWrapped(any.bytes, factor: .any, to: member)
    if !slots.contains(where: { $0.kind == SlotKind.factor.rawValue && $0.opener == SlotOpener.any.rawValue })
    {
      try putPresence(try open.half(of: .presence, by: passcode), inside: any)
    }
    set.members.append(member)
    try renew(&set, trust: trust)
  }

  /// The login password as a member: it opens presence and nothing else, and no set changes.
  package mutating func enrollLogin(
    _ label: String, passcode: PasscodeKeys, trust: SharedSecret, now: Instant
  ) throws(VaultError) {
    _ = try completeSet(trust: trust)
    var set = try keys.enrolledSet(of: header)
    let member = try newMember(label, source: .login, set: set, now: now)
    let open = FactorSlots(header: header, slots: slots, keys: keys, random: random)
    try putWrapped(try open.half(of: .presence, by: passcode).bytes, factor: .presence, to: member)
    set.members.append(member)
    try seal(set)
    try authenticate(with: trust)
  }

  /// Removes a member, its slots, and the set that it was in. Works while the vault is locked and other members are
  /// absent.
  ///
  /// - Parameter trust: The trust key, if it is open: then the next set is made now, otherwise at the next unlock.
  ///   Until then the stored set stays as it is, because the factor MAC covers it; the list of revoked factors names
  ///   the removed member.
  package mutating func remove(_ member: Member, trust: SharedSecret?) throws(VaultError) {
    let set = try keys.enrolledSet(of: header)
    slots.removeAll {
      $0.kind == SlotKind.factor.rawValue
        && ($0.subject == member.factor.rawValue || $0.openerID == member.id)
    }
    header.revoked.insert(member.factor)
    // The login password was in no set, so the current set stays.
    if member.source != .login, header.factors[set.factor] != nil {
      slots.removeAll { $0.kind == SlotKind.factor.rawValue && $0.subject == set.factor.rawValue }
      header.revoked.insert(set.factor)
    }
    if let trust { _ = try completeSet(trust: trust) }
  }

  /// Completes a removal that was begun while the vault was locked: takes revoked halves out of the factors, the set
  /// and the recovery half. `false` if no half was revoked.
  package mutating func completeSet(trust: SharedSecret) throws(VaultError) -> Bool {
    guard !header.revoked.isEmpty else { return false }
    var set = try keys.enrolledSet(of: header)
    if set.biometric.isEmpty || header.isAlive(set.factor) {
      let isOther = try set != keys.storedSet(of: header)
      forgetRevoked()
      if isOther { try seal(set) }
      try authenticate(with: trust)
    } else {
      try renew(&set, trust: trust)
    }
    return true
  }

  /// Removes all members and factors, because the passcode is removed. The generation of the set stays, so that no
  /// number is used twice.
  package mutating func forgetMembers() throws(VaultError) {
    slots.removeAll { $0.kind == SlotKind.factor.rawValue }
    forgetRevoked()
    header.factors = [:]
    header.phraseDerivation = nil
    guard header.enrolled != nil else { return }
    var set = try keys.storedSet(of: header)
    set.members = []
    try seal(set)
  }

  /// The enrolled set sealed under the keys of this change.
  package mutating func seal(_ set: EnrolledSet) throws(VaultError) { try seal(set.encoded) }

  /// The record of an enrolled set sealed under the keys of this change.
  package mutating func seal(_ content: [UInt8]) throws(VaultError) {
    header.enrolled = try keys.sealEnrolled(content, in: header.vault, random: random)
    seals += 1
  }

  // MARK: Steps

  /// Makes the set of the next generation for all members. No member needs to be present.
  private mutating func renew(_ set: inout EnrolledSet, trust: SharedSecret) throws(VaultError) {
    slots.removeAll { $0.kind == SlotKind.factor.rawValue && $0.subject == set.factor.rawValue }
    header.factors[set.factor] = nil
    forgetRevoked()
    if !set.biometric.isEmpty {
      guard set.generation < Factor.greatestNumber else { throw Head.atEnd }
      set.generation += 1
      let pair = try random.newKeyPair()
      header.factors[set.factor] = pair.publicKey
      for member in set.biometric { try putWrapped(pair.privateKey, factor: set.factor, to: member) }
    }
    try seal(set)
    try authenticate(with: trust)
  }

  /// Removes revoked halves from the header. The caller renews field 16.
  private mutating func forgetRevoked() {
    for factor in header.revoked { header.factors[factor] = nil }
    if header.revoked.contains(.recovery) { header.recoveryKey = nil }
    header.revoked = []
  }

  private func nextMember(_ set: EnrolledSet) throws(VaultError) -> Factor {
    let taken = header.factors.keys.filter(\.isMember).map(\.number) + set.members.map(\.factor.number)
    let last = taken.max() ?? 0
    guard last < Factor.greatestNumber else { throw Head.atEnd }
    return .member(last + 1)
  }

  /// A member with its own key pair, which is in the header and not in a set yet.
  private mutating func newMember(
    _ label: String, source: MemberSource, set: EnrolledSet, now: Instant, phrase: PasswordKey? = nil
  ) throws(VaultError) -> Member {
    let pair = try random.newKeyPair()
    let id = try random.newBytes(16)
    let factor = source == .login ? Factor.login : try nextMember(set)
    let member = Member(id: id, source: source, label: label, enrolled: now, factor: factor)
    header.factors[member.factor] = pair.publicKey
    try putOwnHalf(pair.privateKey, of: member, phrase: phrase)
    return member
  }

  private mutating func putOwnHalf(
    _ half: borrowing SecretBytes, of member: Member, phrase: PasswordKey?
  ) throws(VaultError) {
    let address = memberAddress(member.factor, member: member)
    let body: [UInt8]
    if let phrase {
      let key = FactorSlots.memberKey(phrase.box.bytes, id: member.id)
      body = try sealed(half, at: address, inside: key, derivation: phrase.derivation)
    } else {
      body = try seal.seal(half, at: address, under: slotKey(for: address).bytes)
    }
    put(address, body)
  }

  private mutating func putWrapped(
    _ half: borrowing SecretBytes, factor: Factor, to member: Member
  ) throws(VaultError) {
    guard let publicHalf = header.factors[member.factor] else {
      throw VaultError(.damaged, "a member of the enrolled set has no key")
    }
    let address = memberAddress(factor, member: member)
    put(address, try seal.wrap(half, to: publicHalf, at: address, under: slotKey(for: address).bytes))
  }

  private mutating func putPresence(_ presence: SharedSecret, inside any: SharedSecret) throws(VaultError) {
    let address = SlotAddress(
      .factor, subject: Factor.presence.rawValue, generation: keys.generation, opener: .any)
    put(address, try sealed(presence.bytes, at: address, inside: any.bytes, derivation: nil))
  }

  private func memberAddress(_ factor: Factor, member: Member) -> SlotAddress {
    SlotAddress(
      .factor, subject: factor.rawValue, generation: keys.generation, opener: .member, openerID: member.id)
  }
}
