import VaultFormat
import VaultKeys
import Glibc
import SecretMemory
import TextPreparation
import VaultCrypto
import VaultLogging
import VaultStorage

extension VaultCore {
  /// Unlocks with the passcode. The attempt is counted on disk before the derivation runs, and after the derivation has its
  /// memory.
  ///
  /// - Parameter call: The call of the actor, if it is one.
  /// - Throws: ``VaultError/Code/authenticationFailed`` with `attemptsLeft`, ``VaultError/Code/passcodeDelay`` with
  ///   `retryAfter`; ``VaultError/Code/appCancelled`` if the vault was locked or the call was cancelled meanwhile.
  package func unlock(with passcode: consuming Passcode, call: OpenCall? = nil) throws(VaultError) {
    _ = try verified(passcode, for: CallValidity(self, call: call))
  }

  /// Judges a passcode that was given although the vault may be unlocked already: a person who gives a wrong one learns it.
  ///
  /// A right passcode ends the count of wrong ones, and its entry in the log says that it was given; it opens nothing, replaces no
  /// key, and no entry says that the vault was unlocked. A wrong one counts as in ``unlock(with:call:)``, with the same entries and
  /// delays, and what is open stays open.
  ///
  /// - Throws: As ``unlock(with:call:)``; ``VaultError/Code/policy`` for a vault without a passcode.
  package func judge(_ passcode: consuming Passcode) throws(VaultError) {
    _ = try judgedAndLogged(passcode, opening: opens)
    try countSuccess(passcode.shown, unlocks: false)
  }

  /// Whether everything that a passcode guards is open in the vault as it is now: keys that another process made close it. False
  /// where the vault cannot be read. Asks no protector, which can hang.
  package var isUnlocked: Bool { withStore { $0.isUnlocked() } }

  /// ``isUnlocked``, for who asks for the passcode where it is false.
  ///
  /// - Throws: Why the vault cannot be read.
  package func findsUnlocked() throws -> Bool {
    try withStore { store in Result { try store.findsUnlocked() } }.get()
  }

  /// Refuses to ask for a passcode that another process has removed.
  ///
  /// - Throws: ``VaultError/Code/locked``.
  package func refuseShut() throws(VaultError) {
    try HeldStore(of: session).store.refuseShut()
  }

  /// Throws during a delay after wrong passcodes, so that the caller does not prompt for a passcode that is not
  /// tried.
  ///
  /// - Throws: ``VaultError/Code/passcodeDelay`` with `retryAfter`.
  package func refuseDelay() throws(VaultError) {
    var transaction = try beginReading()
    let state = try transaction.store.vaultState().state
    let failures = state.failures &+ state.underWay
    transaction.end()
    guard Lockout.delay(after: failures) > 0, !isReadOnly else { return }
    var change = try beginWriting()
    // After a reboot the delay begins again, and this is stored. An attempt is only counted when it is made.
    let verdict = try change.beginAttempt { if case .refused = $0 { true } else { false } }
    try change.commit()
    if case .refused(let milliseconds) = verdict { throw Self.delayed(milliseconds) }
  }

  /// How many wrong passcodes are judged without a delay. The next one is refused until the delay is over.
  package func triesBeforeDelay() throws(VaultError) -> Int {
    var transaction = try beginReading()
    let failures = try transaction.store.vaultState().state.failures
    transaction.end()
    return max(1, Lockout.freeFailures - Int(failures))
  }

  /// Whether a passcode is set now.
  package var hasPasscode: Bool { withPresentKeys { $0.header.hasPasscode } }

  /// Lends the keys of the vault as it is now, whichever process made them; where it cannot be read, those that were read last.
  func withPresentKeys<R: Sendable>(_ body: (borrowing KeyRing) -> R) -> R {
    try? beginReading().end()
    return withStore { body($0.keys) }
  }

  /// Logs that the vault was locked. Called after ``lock()``, because it needs no key that the passcode opens, and an entry that cannot
  /// be written prevents no lock: the disk is full, or another process holds the vault for long.
  ///
  /// - Parameter reason: The detail of the entry, for people, without a secret.
  /// - Returns: Whether there is an entry.
  @discardableResult
  package func noteLock(reason: String) -> Bool {
    guard !isReadOnly else { return false }
    do throws(VaultError) {
      try log([AuditNote(operation: .locked, detail: reason)])
      return true
    } catch {
      VaultLog.warning(.vaultAccess, "no entry says that the vault was locked: \(error.code)")
      return false
    }
  }

  /// Ends the delay after wrong passcodes. The vault's own state is rebuilt when it is damaged.
  ///
  /// - Throws: ``VaultError/Code/authenticationFailed`` for another vault's code.
  package func endDelay(with code: borrowing RecoveryCode) throws(VaultError) {
    let transaction = try beginReading()
    try transaction.check(code)
    transaction.end()
    let notes = code.shown?.notes(.recoveryCode) ?? []
    var change = try beginWriting()
    // Another process may have made another code meanwhile.
    try change.reading.check(code)
    try change.repairVaultState()
    var (state, row) = try change.store.vaultState()
    Lockout.forgive(&state)
    try change.setVaultState(state, replacing: row)
    try change.log(notes)
    try change.log(.recoveryUsed, detail: "passcode delay ended")
    try change.commit()
  }

  /// The keys of a right passcode. They unlock the session.
  func verified(_ passcode: borrowing Passcode) throws(VaultError) -> PasscodeKeys {
    try verified(passcode, for: CallValidity(self))
  }

  /// The same for a call that may end meanwhile: the passcode then opens nothing.
  func verified(_ passcode: borrowing Passcode, for validity: CallValidity) throws(VaultError) -> PasscodeKeys
  {
    let keys = try judgedAndLogged(passcode) { keys throws(VaultError) in
      try opened(with: keys, for: validity)
    }
    do throws(VaultError) {
      try countSuccess(passcode.shown)
      try completeClasses(with: keys, for: validity)
      try completeEnrolledSet()
    } catch {
      lock()
      throw error
    }
    return keys
  }

  /// As ``judged(_:opening:)``. An error without a verdict is logged; a wrong passcode was logged with its verdict.
  private func judgedAndLogged(
    _ passcode: borrowing Passcode, opening isRight: (PasscodeKeys) throws(VaultError) -> Bool
  ) throws(VaultError) -> PasscodeKeys {
    do throws(VaultError) { return try judged(passcode, opening: isRight) } catch {
      if error.code != .authenticationFailed {
        logWherePossible(passcode.shown.notes(.passcode, result: error.auditResult))
      }
      throw error
    }
  }

  /// The keys of a right passcode. The caller must still write the verdict.
  ///
  /// - Parameter isRight: Tries the keys; false if the passcode was changed after the derivation began.
  private func judged(
    _ passcode: borrowing Passcode, opening isRight: (PasscodeKeys) throws(VaultError) -> Bool
  ) throws(VaultError) -> PasscodeKeys {
    var race = KeyRace()
    while race.mayTry() {
      guard let prepared = try countAttempt() else {
        try refuseShut()
        throw VaultError(.policy, "no passcode is set", hint: .setPasscode)
      }
      do throws(VaultError) {
        if let keys = try right(passcode, by: prepared, opening: isRight) { return keys }
      } catch {
        if error.code == .authenticationFailed { throw try countFailure(error, shown: passcode.shown) }
        // There is no verdict, so it was no attempt. What ended it is the error also where that cannot be written.
        try? takeBackAttempt()
        throw error
      }
      // Another process has changed the passcode, so the derived keys were not compared with anything.
      try takeBackAttempt()
    }
    throw VaultError(.busy, "the passcode is being changed by another process", hint: "try again")
  }

  /// The keys of the first form of a passcode that is right; `nil` if the passcode was changed after the derivation began. All forms
  /// are one attempt, which is counted before.
  ///
  /// - Throws: ``VaultError/Code/authenticationFailed`` if no form is right.
  private func right(
    _ passcode: borrowing Passcode, by prepared: borrowing PreparedDerivation,
    opening isRight: (PasscodeKeys) throws(VaultError) -> Bool
  ) throws(VaultError) -> PasscodeKeys? {
    try passcode.typed.firstRight { (form) throws(VaultError) in
      let keys = PasscodeKeys(form, by: prepared)
      return try isRight(keys) ? keys : nil
    }
  }

  /// Opens the classes of the session; `false` if the passcode was changed after the derivation began.
  ///
  /// - Throws: ``VaultError/Code/appCancelled``, with nothing compared, if the call is not wanted any more.
  func opened(with keys: PasscodeKeys, for validity: CallValidity? = nil) throws(VaultError) -> Bool {
    let locks = validity?.locks ?? session.latch.locks
    let transaction = try beginReading()
    let derivation = transaction.store.keys.header.passcodeDerivation
    guard derivation == keys.derivation else { return false }
    try validity?.beginUse(locks: transaction.store.locks)
    try transaction.store.unlock(with: keys, at: locks)
    return true
  }

  /// Whether the keys open the present ring, of which they open nothing; false as in ``opened(with:for:)``.
  private func opens(_ keys: PasscodeKeys) throws(VaultError) -> Bool {
    let transaction = try beginReading()
    guard transaction.store.keys.header.passcodeDerivation == keys.derivation else { return false }
    _ = try transaction.store.keys.unlocked(with: keys, random: transaction.store.environment.random)
    return true
  }

  /// Unlocks with keys that were just made, after a change of header and slots. If the vault was locked meanwhile, it
  /// stays locked.
  func adopt(_ keys: PasscodeKeys, for validity: CallValidity? = nil) throws(VaultError) {
    do throws(VaultError) { _ = try opened(with: keys, for: validity) } catch {
      guard error.code == .appCancelled else { throw error }
    }
  }

  // MARK: Counting

  /// Prepares the derivation, then counts the attempt on disk; `nil` without a passcode. Waits for other attempts that are under
  /// way, without the memory of a derivation.
  private func countAttempt() throws(VaultError) -> PreparedDerivation? {
    var isBehindOthers = false
    for _ in 0..<600 {
      var transaction = try beginReading()
      let (derivation, pause) = (
        transaction.store.keys.header.passcodeDerivation,
        isBehindOthers ? try transaction.pauseBeforeAttempt() : nil
      )
      transaction.end()
      guard let derivation else { return nil }
      if let pause {
        usleep(UInt32(pause) * 1000)
        continue
      }
      let prepared = try derivation.prepare(for: .passcode, in: environment)
      if try judgesUncounted() { return prepared }
      var change = try beginWriting()
      // Another process may have changed the passcode meanwhile.
      guard change.store.keys.header.passcodeDerivation == derivation else { continue }
      let verdict = try change.beginAttempt { _ in true }
      try change.commit()
      switch verdict {
      case .go: return prepared
      case .refused(let milliseconds): throw Self.delayed(milliseconds)
      case .wait: isBehindOthers = true
      }
    }
    throw Self.delayed(Lockout.verdictMilliseconds)
  }

  private func countFailure(_ error: VaultError, shown: Shown) throws(VaultError) -> VaultError {
    var left: Int?
    let delay =
      try settle(shown, result: .authenticationFailed) { state in
        let delay = Lockout.fail(&state)
        left = Lockout.attemptsLeft(state)
        return delay
      } ?? 0
    let hint: Hint? =
      delay == 0
      ? nil : "the next attempt is accepted in \(Self.words(delay)); the recovery code ends the delay"
    return VaultError(
      .authenticationFailed, error.message, hint: hint, attemptsLeft: left,
      retryAfter: delay == 0 ? nil : .milliseconds(delay))
  }

  /// - Parameter unlocks: Whether the passcode has unlocked the vault, which is logged.
  private func countSuccess(_ shown: Shown, unlocks: Bool = true) throws(VaultError) {
    _ = try settle(shown, result: .success, unlocks: unlocks) {
      Lockout.succeed(&$0)
      BiometryLockout.succeed(&$0.biometryFailures)
      return 0
    }
  }

  /// Takes back an attempt that got no verdict: it reveals nothing about the passcode, so it is not a failure.
  private func takeBackAttempt() throws(VaultError) {
    guard !isReadOnly else { return }
    var transaction = try beginWriting()
    var (state, row) = try transaction.store.vaultState()
    Lockout.takeBack(&state)
    try transaction.setVaultState(state, replacing: row)
    try transaction.commit()
  }

  /// Writes the verdict of an attempt and its audit entries. Writes nothing to a read-only vault.
  private func settle(
    _ shown: Shown, result: AuditResult, unlocks: Bool = true, change: (inout VaultState) -> UInt64
  ) throws(VaultError) -> UInt64? {
    guard !isReadOnly else { return nil }
    var transaction = try beginWriting()
    var (state, row) = try transaction.store.vaultState()
    let delay = change(&state)
    try transaction.setVaultState(state, replacing: row)
    try transaction.log(shown.notes(.passcode, result: result))
    if unlocks { try transaction.log(.unlocked, result: result) }
    try transaction.commit()
    return delay
  }

  /// Whether the medium, the directory or the file did not allow writing when the vault was opened: this session then writes
  /// nothing. On a full disk it is true while there is no room, as the last transaction found. Reads nothing of the file.
  package var isReadOnly: Bool { withStore { $0.rows.isReadOnly } }

  /// Whether the vault cannot be written because the disk or the quota is full.
  package var lacksRoom: Bool { withStore { $0.rows.lacksRoom } }

  /// - Throws: Why the vault cannot be written, if it is ``isReadOnly``.
  package func refuseReadOnly() throws(VaultError) {
    guard isReadOnly else { return }
    throw lacksRoom ? VaultError(.full) : VaultError(.readOnly)
  }

  /// Whether attempts are judged that cannot be counted. Who asks as the user of this process could as well try them on a copy, or take
  /// the right to write away. Another user, whom the keeper serves, can do neither, but could fill the disk.
  ///
  /// - Throws: As ``refuseReadOnly()``.
  func judgesUncounted() throws(VaultError) -> Bool {
    guard isReadOnly else { return false }
    if lacksRoom, let caller = environment.caller, caller.user != geteuid() { try refuseReadOnly() }
    return true
  }

  private static func delayed(_ milliseconds: UInt64) -> VaultError {
    VaultError(
      .passcodeDelay,
      "too many wrong passcodes, or a restored vault: no attempt is accepted for now",
      hint: "wait, or end the delay with the recovery code", attemptsLeft: 0,
      retryAfter: .milliseconds(milliseconds))
  }

  private static func words(_ milliseconds: UInt64) -> String {
    let seconds = (milliseconds + 999) / 1000
    if seconds < 120 { return "\(seconds) s" }
    return seconds < 7200 ? "\((seconds + 59) / 60) min" : "\((seconds + 3599) / 3600) h"
  }
}

extension ReadTransaction {
  /// How many milliseconds an attempt has to wait for others that are under way; `nil` if it need not.
  fileprivate mutating func pauseBeforeAttempt() throws(VaultError) -> UInt64? {
    var state = try store.vaultState().state
    guard case .wait(let milliseconds) = Lockout.begin(&state, clock: store.environment.clock).verdict else {
      return nil
    }
    return milliseconds
  }

  /// - Throws: ``VaultError/Code/authenticationFailed`` for another code than the vault's, ``VaultError/Code/policy`` if it has
  ///   none.
  fileprivate func check(_ code: borrowing RecoveryCode) throws(VaultError) {
    let header = store.keys.header
    guard header.recoveryHalf != nil else { throw RecoveryCode.isAbsent }
    _ = try code.openRoot(of: header.generation, in: store.keys.slots, vault: header.vault)
  }
}

extension WriteTransaction {
  /// Counts an attempt, and logs those that never got a verdict.
  ///
  /// - Parameter isStored: Decides by the verdict whether the changed state is stored.
  fileprivate mutating func beginAttempt(
    storing isStored: (Lockout.Verdict) -> Bool
  ) throws(VaultError) -> Lockout.Verdict {
    var (state, row) = try store.vaultState()
    let before = state.bytes
    let (verdict, killed) = Lockout.begin(&state, clock: store.environment.clock)
    guard isStored(verdict), state.bytes != before else { return verdict }
    try setVaultState(state, replacing: row)
    if killed > 0 {
      try log(
        .unlocked, result: .authenticationFailed,
        detail: killed == 1
          ? "1 earlier attempt was killed before its verdict"
          : "\(killed) earlier attempts were killed before their verdicts")
    }
    return verdict
  }
}
