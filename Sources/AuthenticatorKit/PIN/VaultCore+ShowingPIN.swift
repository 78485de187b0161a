import SecretMemory
import VaultKit

/// How a PIN is asked for and, if it is a checked one, judged.
extension VaultCore {
  /// A PIN item that may be asked for now. Unlocks the vault if the context can. In a copied or restored file, verifies the
  /// passcode: the next commit of the item clears its mark.
  func usablePIN(_ id: ItemID, context: AuthenticationContext?) throws(VaultError) -> StoredPIN {
    var stored: StoredPIN
    do throws(VaultError) {
      try markIfCopied()
      stored = try storedPIN(id, context: context)
    } catch {
      if error.code == .blocked { logBlocked(id, error) }
      throw error
    }
    if stored.state.needsResync {
      stored.settledMark = try settleCopiedPIN(stored.item, context: context) ?? []
    }
    return stored
  }

  /// The denial remains in force if the log cannot be written.
  private func logBlocked(_ id: ItemID, _ error: VaultError) {
    logWherePossible([
      AuditNote(
        operation: .accessDenied, item: id, kind: .pin, result: error.auditResult, detail: error.message)
    ])
  }

  /// A PIN item with its data open. Unlocks the vault if the context can.
  ///
  /// - Parameter isUnlocking: Whether a block does not matter.
  func storedPIN(
    _ id: ItemID, isUnlocking: Bool = false, context: AuthenticationContext?
  ) throws(VaultError) -> StoredPIN {
    var transaction = try beginReading(.secret(.use, of: id, by: .pin), context: context) {
      (look) throws(VaultError) in try StoredPIN.check(id, in: &look, isUnlocking: isUnlocking)
    }
    return try StoredPIN(id, in: &transaction, isUnlocking: isUnlocking)
  }

  /// Gets the PIN that guards an item: a checked one is judged, and the verdict of a right one is still to be written.
  ///
  /// - Parameters:
  ///   - action: What it is for, as a verb phrase.
  ///   - label: The name of the item, for the person.
  ///   - problem: Why the PIN is asked for in place of the biokey; `nil` where the person expects it.
  func shownPIN(
    _ pin: GuardingPIN, to action: String, of label: String?, inPlaceOf problem: VaultError? = nil,
    context: AuthenticationContext?
  ) throws(VaultError) -> ShownPIN {
    let stored = try usablePIN(pin.item, context: context)
    try stored.refuse(unless: pin.mode)
    switch stored.mode {
    case .checked:
      return try checkedPIN(stored, to: action, of: label, inPlaceOf: problem, context: context)
    default: return try camouflagedPIN(stored, to: action, of: label, context: context)
    }
  }

  /// The key of the masks from what a person types, which nothing here can judge.
  func camouflagedPIN(
    _ stored: StoredPIN, to action: String, of label: String?, isTypedTwice: Bool = false,
    context: AuthenticationContext?,
    refusing refuse: (borrowing PIN) throws(VaultError) -> Void = { _ in }
  ) throws(VaultError) -> ShownPIN {
    let request = stored.request(action, of: label, isTypedTwice: isTypedTwice)
    return try askingPIN(request, context: context) { (pin, shown) throws(VaultError) in
      try refuse(pin)
      let offset = stored.state.offsetInUse
      let key = try CamouflagedPIN.key(
        of: pin.bytes, offset: offset, by: stored.record.derivation, environment: environment)
      return ShownPIN(
        stored: stored, secret: .camouflaged(key, offset: offset), digits: SharedSecret(pin.bytes.copy()),
        shown: shown)
    }
  }

  /// A checked PIN that was right. The commit of what it permits must write the verdict.
  ///
  /// - Throws: ``VaultError/Code/authenticationFailed`` with `attemptsLeft`, ``VaultError/Code/blocked``.
  func checkedPIN(
    _ stored: StoredPIN, to action: String, of label: String? = nil, inPlaceOf problem: VaultError? = nil,
    context: AuthenticationContext?
  ) throws(VaultError) -> ShownPIN {
    var request = stored.request(action, of: label)
    request.problem = problem.map { "\($0.message): the PIN is needed" }
    return try askingPIN(request, context: context) { (pin, shown) throws(VaultError) in
      try judgedPIN(stored, SharedSecret(pin.bytes.copy()), shown, context: context)
    }
  }

  /// A checked PIN that was typed before, as ``checkedPIN(_:to:of:context:)``.
  func judgedPIN(
    _ stored: StoredPIN, _ digits: SharedSecret, _ shown: Shown, context: AuthenticationContext?
  ) throws(VaultError) -> ShownPIN {
    let counted = try countAttempt(of: stored, context: context)
    let stored = counted.stored
    do throws(VaultError) {
      let secret = try stored.record.unwrapped(
        by: digits.bytes, counted.prepared, of: stored.id, vault: stored.vault)
      return ShownPIN(stored: stored, secret: .checked(secret), digits: digits, shown: shown)
    } catch {
      if error.code == .authenticationFailed { throw try countFailure(of: stored, shown) }
      // There is no verdict, so it was no attempt. What ended it is the error also where that cannot be written.
      try? takeBackAttempt(of: stored)
      throw error
    }
  }

  // MARK: Counting

  private struct CountedPIN: ~Copyable {
    let stored: StoredPIN
    let prepared: PreparedDerivation
  }

  /// Prepares the derivation, then counts the attempt on disk. Waits while attempts are under way that may be the last ones,
  /// without the memory of a derivation.
  private func countAttempt(
    of usable: StoredPIN, context: AuthenticationContext?
  ) throws(VaultError) -> CountedPIN {
    var present = usable
    for _ in 0..<600 {
      // Others, and the memory of a derivation, may take long, and the caller need not wait for either.
      context?.endUse()
      if present.mayBeTried(by: environment.clock) {
        let prepared = try present.record.derivation.prepare(for: .pin, in: environment)
        // While a person typed, new keys of another process may have locked the vault.
        var transaction = try beginWriting(.secret(.use, of: usable.id, by: .pin), context: context) {
          (look) throws(VaultError) in try StoredPIN.check(usable.id, in: &look)
        }
        let (stored, verdict) = try transaction.beginAttempt(
          of: usable, preparedBy: present.record.derivation)
        try transaction.commit()
        // The derivation takes its time, and the caller need not wait for it.
        context?.endUse()
        switch verdict {
        case .go: return CountedPIN(stored: stored, prepared: prepared)
        case .blocked: throw .pinBlocked
        case .wait: break
        }
      } else {
        environment.pause(.milliseconds(50))
      }
      present = try storedPIN(usable.id, context: context)
    }
    throw VaultError(.busy, "other processes are trying this PIN", hint: "try again")
  }

  private func takeBackAttempt(of stored: StoredPIN) throws(VaultError) {
    var transaction = try beginWriting()
    try transaction.changeState(of: stored.id) { PINAttempts.takeBack(&$0) }
    try transaction.commit()
  }

  private func countFailure(of stored: StoredPIN, _ shown: Shown) throws(VaultError) -> VaultError {
    var transaction = try beginWriting()
    let left = try transaction.changeState(of: stored.id) { state in
      PINAttempts.fail(&state, limit: stored.limit)
      return PINAttempts.left(state, limit: stored.limit)
    }
    try transaction.log(shown.notes(.pin, result: .authenticationFailed))
    try transaction.log(.pinVerified, item: stored.item, result: .authenticationFailed)
    try transaction.commit()
    return VaultError(
      .authenticationFailed, "wrong PIN",
      hint: left == 0 ? "it was the last attempt: the PIN is blocked" : nil,
      attemptsLeft: left)
  }
}

extension StoredPIN {
  /// Whether an attempt need not wait for others, as far as this state says.
  fileprivate func mayBeTried(by clock: any VaultClock) -> Bool {
    var state = state
    return PINAttempts.begin(&state, limit: limit, clock: clock).verdict != .wait
  }
}

extension WriteTransaction {
  /// Counts an attempt of a PIN that may be used.
  ///
  /// - Returns: The PIN item as it is now. To wait and look again is also the verdict on another derivation than the prepared one.
  fileprivate mutating func beginAttempt(
    of usable: StoredPIN, preparedBy derivation: KeyDerivation
  ) throws(VaultError) -> (StoredPIN, PINAttempts.Verdict) {
    var stored = try StoredPIN(usable.id, in: &reading)
    try stored.refuse(unless: .checked)
    stored.settledMark = usable.settledMark
    guard stored.record.derivation == derivation else { return (stored, .wait) }
    return (stored, try beginAttempt(of: stored))
  }

  private mutating func beginAttempt(of stored: StoredPIN) throws(VaultError) -> PINAttempts.Verdict {
    guard !hasMarked else { throw .pinChanged }
    let clock = reading.clock
    var held = try heldState(of: stored.id)
    guard stored.settledMark != nil || !held.state.needsResync else { throw .pinChanged }
    let (verdict, killed) = PINAttempts.begin(&held.state, limit: stored.limit, clock: clock)
    if verdict == .go { held.state.needsResync = false }
    try keep(held)
    if verdict == .go { try log(stored.settledMark ?? []) }
    if killed > 0 {
      try log(
        .pinVerified, item: stored.item, result: .authenticationFailed,
        detail: killed == 1
          ? "1 earlier attempt was killed before its verdict"
          : "\(killed) earlier attempts were killed before their verdicts")
    }
    return verdict
  }
}
