import VaultStorage
package import VaultFormat
package import SecretMemory
import VaultCrypto

/// Changes of the enrolled set, and of the login password beside it. Each touches a handful of slots and no item.
extension KeyChange {
  /// A new member: it opens `any` and, with all others, the set of the next generation.
  ///
  /// - Parameters:
  ///   - phrase: What the phrase was derived to, and how; `nil` for a member with no key of its own.
  ///   - passcode: Opens `any` and presence for the new member.
  ///   - trust: The trust key, which authenticates what is wrapped to.
  package mutating func enroll(
    _ label: String, _ source: MemberSource, phrase: PasswordKey?, passcode: PasscodeKeys,
    trust: SharedSecret, now: Instant
  ) throws(VaultError) {
    var set = try keys.enrolledSet(of: header)
    forgetRevoked()
    if let phrase { header.setPhraseDerivation(phrase.derivation) }
    let member = try newMember(label, source, set, now, phrase)
    let open = FactorSlots(header: header, slots: slots, keys: keys, random: random)
    let any = try open.half(of: .any, by: passcode)
    try putWrapped(any.bytes, .any, member)
    if !slots.contains(where: { $0.kind == SlotKind.factor.rawValue && $0.opener == SlotOpener.any.rawValue })
    {
      try putPresence(try open.half(of: .presence, by: passcode), inside: any)
    }
    set.members.append(member)
    try renew(&set, trust)
  }

  /// The login password as a member: it opens presence and nothing else, and no set changes.
  package mutating func enrollLogin(
    _ label: String, passcode: PasscodeKeys, trust: SharedSecret, now: Instant
  ) throws(VaultError) {
    _ = try completeSet(trust: trust)
    var set = try keys.enrolledSet(of: header)
    let member = try newMember(label, .login, set, now)
    let open = FactorSlots(header: header, slots: slots, keys: keys, random: random)
    try putWrapped(try open.half(of: .presence, by: passcode).bytes, .presence, member)
    set.members.append(member)
    try seal(set)
    try authenticate(with: trust)
  }

  /// A member leaves: its slots go, and so does the set that it was in. Works while locked and with absent members.
  ///
  /// - Parameter trust: The trust key when it is open: the next set is made now, else at the next unlock. Until
  ///   then the stored set stays as it is, because the factor MAC covers it; the list of revoked factors says who left.
  package mutating func remove(_ member: Member, trust: SharedSecret?) throws(VaultError) {
    let set = try keys.enrolledSet(of: header)
    slots.removeAll {
      $0.kind == SlotKind.factor.rawValue
        && ($0.subject == member.factor.rawValue || $0.openerID == member.id)
    }
    header.revoked.insert(member.factor)
    // The login password was in no set: the present set stays.
    if member.source != .login, header.factors[set.factor] != nil {
      slots.removeAll { $0.kind == SlotKind.factor.rawValue && $0.subject == set.factor.rawValue }
      header.revoked.insert(set.factor)
    }
    if let trust { _ = try completeSet(trust: trust) }
  }

  /// Completes a removal that was begun while the vault was locked: revoked halves leave factors, set and recovery
  /// half. `false` when there was none.
  package mutating func completeSet(trust: SharedSecret) throws(VaultError) -> Bool {
    guard !header.revoked.isEmpty else { return false }
    var set = try keys.enrolledSet(of: header)
    if set.biometric.isEmpty || header.isAlive(set.factor) {
      let isOther = try set != keys.storedSet(of: header)
      forgetRevoked()
      if isOther { try seal(set) }
      try authenticate(with: trust)
    } else {
      try renew(&set, trust)
    }
    return true
  }

  /// Nobody is enrolled any more, and no factor is left: the passcode goes. The generation of the set stays, so that
  /// no number comes twice.
  package mutating func forgetMembers() throws(VaultError) {
    slots.removeAll { $0.kind == SlotKind.factor.rawValue }
    forgetRevoked()
    header.factors = [:]
    header.setPhraseDerivation(nil)
    guard header.enrolled != nil else { return }
    var set = try keys.storedSet(of: header)
    set.members = []
    try seal(set)
  }

  /// The enrolled set sealed under the keys of this change.
  package mutating func seal(_ set: EnrolledSet) throws(VaultError) { try seal(set.encoded) }

  /// The record of an enrolled set sealed under the keys of this change.
  package mutating func seal(_ content: [UInt8]) throws(VaultError) {
    header.enrolled = try crypto { () throws(CryptoError) in
      try keys.meta.seal(content, aad: AssociatedData.enrolled(header.vault), random: random)
    }
    seals += 1
  }

  // MARK: Steps

  /// The set of the next generation, for all members, of whom none needs to be there.
  private mutating func renew(_ set: inout EnrolledSet, _ trust: SharedSecret) throws(VaultError) {
    slots.removeAll { $0.kind == SlotKind.factor.rawValue && $0.subject == set.factor.rawValue }
    header.factors[set.factor] = nil
    forgetRevoked()
    if !set.biometric.isEmpty {
      guard set.generation < Factor.greatestNumber else { throw Head.atEnd }
      set.generation += 1
      let pair = try crypto { () throws(CryptoError) in try X25519KeyPair.generate(random: random) }
      header.factors[set.factor] = pair.publicKey
      for member in set.biometric { try putWrapped(pair.privateKey, set.factor, member) }
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

  /// A member with a pair of its own, which is in the header and in no set yet.
  private mutating func newMember(
    _ label: String, _ source: MemberSource, _ set: EnrolledSet, _ now: Instant, _ phrase: PasswordKey? = nil
  ) throws(VaultError) -> Member {
    let pair = try crypto { () throws(CryptoError) in try X25519KeyPair.generate(random: random) }
    let id = try crypto { () throws(CryptoError) in try random.bytes(16) }
    let factor = source == .login ? Factor.login : try nextMember(set)
    let member = Member(id: id, source: source, label: label, enrolled: now, factor: factor)
    header.factors[member.factor] = pair.publicKey
    try putOwnHalf(pair.privateKey, member, phrase)
    return member
  }

  private mutating func putOwnHalf(
    _ half: borrowing SecretBytes, _ member: Member, _ phrase: PasswordKey?
  ) throws(VaultError) {
    let address = memberAddress(member.factor, member)
    let body: [UInt8]
    if let phrase {
      let key = FactorSlots.memberKey(phrase.box.bytes, member.id)
      body = try layered(address) { outer throws(VaultError) in
        try seal.seal(half, at: address, under: outer, inside: key, derivation: phrase.derivation)
      }
    } else {
      body = try layered(address) { outer throws(VaultError) in
        try seal.seal(half, at: address, under: outer)
      }
    }
    put(address, body)
  }

  private mutating func putWrapped(
    _ half: borrowing SecretBytes, _ factor: Factor, _ member: Member
  ) throws(VaultError) {
    guard let publicHalf = header.factors[member.factor] else {
      throw VaultError(.damaged, "a member of the enrolled set has no key")
    }
    let address = memberAddress(factor, member)
    let body = try layered(address) { outer throws(VaultError) in
      try seal.wrap(half, to: publicHalf, at: address, under: outer)
    }
    put(address, body)
  }

  private mutating func putPresence(_ presence: SharedSecret, inside any: SharedSecret) throws(VaultError) {
    let address = SlotAddress(
      .factor, subject: Factor.presence.rawValue, generation: keys.generation, opener: .any)
    let body = try layered(address) { outer throws(VaultError) in
      try seal.seal(presence.bytes, at: address, under: outer, inside: any.bytes, derivation: nil)
    }
    put(address, body)
  }

  private func memberAddress(_ factor: Factor, _ member: Member) -> SlotAddress {
    SlotAddress(
      .factor, subject: factor.rawValue, generation: keys.generation, opener: .member, openerID: member.id)
  }
}
