import VaultFormat
import VaultKeys
import SecretMemory
import VaultCrypto
import VaultStorage
import TextPreparation

/// The members: the enrolled set, and the login password beside it.
extension VaultCore {
  /// The members, in the order of their enrollment.
  package func enrolledMembers() throws(VaultError) -> [EnrolledMember] {
    let present = try keysNow()
    return try present.keys.enrolledSet(of: present.header).members.map {
      EnrolledMember(name: $0.label, source: $0.source, enrolled: $0.enrolled)
    }
  }

  /// Enrolls a phrase. Costs one key derivation in addition to that of the passcode, and rewrites no item.
  ///
  /// - Throws: ``VaultError/Code/policy`` without a passcode, ``VaultError/Code/duplicateItem`` for an enrolled name
  ///   or phrase, ``VaultError/Code/authenticationFailed``, ``VaultError/Code/passcodeDelay``.
  package func enroll(
    _ phrase: consuming BiometricPhrase, named name: String, passcode: consuming Passcode
  ) throws(VaultError) -> EnrolledMember {
    try Self.check(newMember: name)
    guard hasPasscode else { throw Self.needsPasscode }
    return try enroll(phrase, named: name, with: checked(passcode))
  }

  /// The same, with a passcode that was verified before the prompt for the phrase.
  package func enroll(
    _ phrase: consuming BiometricPhrase, named name: String, with passcode: CheckedPasscode
  ) throws(VaultError) -> EnrolledMember {
    try Self.check(newMember: name)
    return try enroll(
      name, source: .phrase, root: phraseRoot(phrase), passcode: passcode.keys,
      notes: phrase.shown.notes(.newPhrase))
  }

  /// Checks a name that a person gives to a member. The names of fingers and of the login password are reserved.
  ///
  /// - Throws: ``VaultError/Code/malformed``, ``VaultError/Code/policy`` for a reserved name.
  package static func check(newMember name: String) throws(VaultError) {
    try ItemLimits.check(name: name)
    guard !EnrolledMember.reserved.contains(name.lowercased()) else {
      throw VaultError(
        .policy, "the member name '\(name)' is reserved",
        hint: "choose a name that is neither \"login\" nor \"passcode\", \"any\" or a finger of fprintd")
    }
  }

  /// Makes the reader's fingers members, and removes the fingers that the reader no longer has. Advisory: a reader
  /// gives no key.
  ///
  /// - Returns: The fingers that were not members before.
  /// - Throws: ``VaultError/Code/policy`` without a passcode, and for a reader without fingers, so that an answer
  ///   from the bus alone cannot remove all members.
  package func enrollFingers(
    of source: any BiometrySource, passcode: consuming Passcode
  ) throws(VaultError) -> [EnrolledMember] {
    guard hasPasscode else { throw Self.needsPasscode }
    return try enrollFingers(of: source, with: checked(passcode))
  }

  /// The same, with a passcode that was verified before.
  package func enrollFingers(
    of source: any BiometrySource, with passcode: CheckedPasscode
  ) throws(VaultError) -> [EnrolledMember] {
    let fingers = try source.enrolledFingers()
    guard !fingers.isEmpty else {
      throw VaultError(
        .policy, "the reader knows no finger", hint: "enrol one with 'fprintd-enroll', then run this again")
    }
    let known = try enrolledMembers().filter { $0.source == .finger }.map(\.name)
    try refuseImpossible(fingers)
    for finger in known where !fingers.contains(finger) { try removeMember(named: finger, isOwnerHere: true) }
    var enrolled: [EnrolledMember] = []
    for finger in fingers where !known.contains(finger) {
      enrolled.append(try enroll(finger, source: .finger, root: nil, passcode: passcode.keys))
    }
    return enrolled
  }

  /// Makes the login password (PAM) a member, under the name ``EnrolledMember/login``. It proves only presence, and
  /// the set does not change. Advisory: PAM gives no key.
  ///
  /// - Throws: As ``enroll(_:named:passcode:)``.
  package func enrollLogin(passcode: consuming Passcode) throws(VaultError) -> EnrolledMember {
    guard hasPasscode else { throw Self.needsPasscode }
    return try enrollLogin(with: checked(passcode))
  }

  /// The same, with a passcode that was verified before.
  package func enrollLogin(with passcode: CheckedPasscode) throws(VaultError) -> EnrolledMember {
    try enroll(EnrolledMember.login, source: .login, root: nil, passcode: passcode.keys)
  }

  /// Removes a member, without a prompt, also while the vault is locked, unless items that a locked vault does not delete would be lost.
  /// This changes the set, unless the member is the login password.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``, ``VaultError/Code/locked``.
  package func removeMember(named name: String) throws(VaultError) {
    try removeMember(named: name, isOwnerHere: false)
  }

  /// - Parameter isOwnerHere: Whether the passcode was shown for this, although the vault may be locked.
  private func removeMember(named name: String, isOwnerHere: Bool) throws(VaultError) {
    var transaction = try beginWriting()
    var change = try transaction.beginKeyChange()
    let set = try change.keys.enrolledSet(of: change.header)
    guard let member = set.members.first(where: { $0.label == name }) else {
      throw VaultError(.itemNotFound, "no member has that name", hint: .listMembers)
    }
    if !isOwnerHere, member.source != .login {
      for item in try transaction.store.itemsBehindCurrentSet() {
        try transaction.permitWithoutSecret(on: item)
      }
    }
    try change.remove(member, trust: transaction.store.keys.trustKey)
    try transaction.write(change, as: .memberRemoved, detail: name)
    try transaction.commit()
  }

  /// The items that no longer open after the next change of the enrolled set.
  package func itemsBehindCurrentSet() throws(VaultError) -> [Item] {
    var transaction = try beginReading()
    return try transaction.store.itemsBehindCurrentSet()
  }

  // MARK: Steps

  /// The key derived from a phrase with the salt of the vault's members.
  private func phraseRoot(_ phrase: borrowing BiometricPhrase) throws(VaultError) -> PasswordKey {
    let factors = try factorSlots()
    let stored = factors.header.phraseDerivation
    let derivation =
      if let stored { stored } else {
        try KeyDerivation.fresh(environment.parameters, random: environment.random)
      }
    let root = PasswordKey(
      try derivation.derive(from: phrase.typed.prepared.bytes, as: .newPhrase, in: environment),
      derivation: derivation)
    for member in try factors.enrolledSet().members where member.source == .phrase {
      guard try factors.half(of: member, phrase: root.box) == nil else {
        throw VaultError(.duplicateItem, "that phrase is enrolled already", hint: "choose another")
      }
    }
    return root
  }

  private func enroll(
    _ name: String, source: MemberSource, root: PasswordKey?, passcode: PasscodeKeys,
    notes: [AuditNote] = []
  ) throws(VaultError) -> EnrolledMember {
    let now = environment.clock.now()
    let name = try Self.normalized(name)
    var transaction = try beginWriting()
    var change = try transaction.beginKeyChange()
    try transaction.log(notes)
    let present = change.header.phraseDerivation
    guard change.header.passcodeDerivation == passcode.derivation,
      root == nil || present == nil || present == root!.derivation,
      let trust = transaction.store.keys.trustKey
    else {
      throw VaultError(.busy, "the vault's keys were changed by another process", hint: "try again")
    }
    let members = try change.keys.enrolledSet(of: change.header).members
    guard !members.contains(where: { $0.label == name }) else { throw Self.nameTaken }
    guard members.count < Self.mostMembers else { throw Self.setIsFull }
    if source == .login {
      try change.enrollLogin(name, passcode: passcode, trust: trust, now: now)
    } else {
      try change.enroll(
        name, source: source, phrase: root, passcode: passcode, trust: trust, now: now)
    }
    try transaction.write(change, as: .memberEnrolled, detail: name)
    try transaction.commit()
    return EnrolledMember(name: name, source: source, enrolled: now)
  }

  /// Checks that all new fingers can be members before any member is removed.
  private func refuseImpossible(_ fingers: [String]) throws(VaultError) {
    for finger in fingers { try ItemLimits.check(name: finger) }
    let others = try enrolledMembers().filter { $0.source != .finger }.map(\.name)
    guard Set(fingers + others).count == fingers.count + others.count else { throw Self.nameTaken }
    guard fingers.count + others.count <= Self.mostMembers else { throw Self.setIsFull }
  }

  private func factorSlots() throws(VaultError) -> FactorSlots {
    let present = try keysNow()
    return FactorSlots(
      header: present.header, slots: present.slots, keys: present.keys, random: environment.random)
  }

  /// The name of a member in form C. Strings of two forms are equal, so a name finds its member in each of them.
  private static func normalized(_ name: String) throws(VaultError) -> String {
    do throws(TextPreparationError) { return try TextPreparation.normalized(name) } catch {
      throw VaultError(error, in: "the name of the member")
    }
  }

  private static let mostMembers = 16

  private static var nameTaken: VaultError {
    VaultError(.duplicateItem, "a member has that name already", hint: .removeMember)
  }

  private static var setIsFull: VaultError {
    VaultError(.policy, "the set has at most \(mostMembers) members", hint: "remove one first")
  }

  private static var needsPasscode: VaultError {
    VaultError(.policy, "members are enrolled behind a passcode, and none is set", hint: .setPasscodeFirst)
  }
}

extension SealedStore {
  /// The items that no longer open after the next change of the enrolled set.
  fileprivate mutating func itemsBehindCurrentSet() throws(VaultError) -> [Item] {
    let header = keys.header
    var found: [Item] = []
    var walk = ItemWalk()
    while let item = try walk.nextReadable(in: &self) {
      guard item.access.constraints.contains(.biometryCurrentSet) else { continue }
      let ways = try item.policy.ways().filter { $0.allSatisfy(header.isAlive) }
      if !ways.isEmpty, ways.allSatisfy({ $0.contains(where: \.isSet) }) { found.append(item) }
    }
    return found
  }
}
