import VaultFormat
import VaultKeys
import SecretMemory
import VaultCrypto
import VaultStorage

extension VaultCore {
  /// Unlocks with the passcode that the context has or asks for.
  ///
  /// - Throws: As ``unlock(with:)``, and ``VaultError/Code/interactionNotAllowed``, ``VaultError/Code/cancelled``.
  package func unlock(with context: AuthenticationContext) throws(VaultError) {
    guard !isUnlocked else { return }
    var verification = Authentication(core: self, context: context, operation: .unlock)
    do throws(VaultError) { try verification.unlock() } catch {
      logDenial(verification.notes, of: nil, error: error)
      throw error
    }
  }

  /// The ways in which the vault can verify a person.
  package func verificationSources() throws(VaultError) -> VerificationSources {
    let (header, _, keys) = try keysNow()
    let members = try keys.enrolledSet(of: header).members
    return VerificationSources(
      hasPasscode: header.hasPasscode, hasPhrases: members.contains { $0.source == .phrase },
      hasFingers: members.contains { $0.source == .finger },
      hasLogin: members.contains { $0.source == .login })
  }

  /// Whether an item's access rule can no longer be satisfied.
  package func isBeyondReach(_ item: Item) throws(VaultError) -> Bool {
    guard item.access.word != 0 else { return false }
    let ways = try item.policy.ways()
    let header = try keysNow().header
    return !ways.contains { $0.allSatisfy(header.isAlive) }
  }

  // MARK: For a verification

  /// An item and the alternatives that open its data key.
  ///
  /// - Parameter version: The version of a former secret; `nil` for the present one.
  func lockedItem(_ id: ItemID, version: UInt64?) throws(VaultError) -> LockedItem {
    var transaction = try beginReading()
    let present = try transaction.store.row(of: id)
    let item = try transaction.store.open(present)
    let row = version.map { present.asOf($0) } ?? present
    try transaction.store.readTime(for: item)
    let number = item.access.classNumber
    let key = transaction.store.keys.classKey(number, generation: row.generation)
    var alternatives: [Alternative] = []
    if let key, item.hasSecret, try item.policy.isWrapped() {
      let secret =
        if let version {
          try transaction.store.sealedSecret(transaction.store.former(version, of: row), of: row, item)
        } else {
          try transaction.store.sealedSecret(of: row, item)
        }
      alternatives = try secret.alternatives(under: key)
    }
    let factors = FactorSlots(
      header: transaction.store.keys.header, slots: transaction.store.keys.slots,
      keys: transaction.store.keys.current, random: environment.random)
    let why = key == nil ? Gate.locked(item.access, keys: transaction.store.keys) : nil
    return LockedItem(
      item: item, row: row, factors: factors, classKey: key, alternatives: alternatives, whyLocked: why,
      now: transaction.store.time.now)
  }

  /// Logs a prompt of the caller that ended without an answer. If the log cannot be written, the prompt has ended all
  /// the same.
  package func logPrompt(for secret: SecretName, ended outcome: PromptOutcome, result: AuditResult) {
    logWherePossible(Shown(outcome: outcome).notes(secret, result: result))
  }

  /// Logs a denial. The denial remains in force if the log cannot be written.
  func logDenial(_ notes: [AuditNote], of item: Item?, error: VaultError) {
    guard error.code != .busy else { return }
    let denial = AuditNote(
      operation: .accessDenied, item: item?.id, kind: item?.kind, result: error.auditResult,
      detail: error.message)
    logWherePossible(notes + [denial])
  }

  // MARK: Adding

  /// Checks that an item with this access can be added now. Unlocks the vault for it if the context can.
  package func permitAdding(
    _ item: NewItem, by component: Component?, context: AuthenticationContext?
  ) throws(VaultError) {
    try completeEnrolledSet()
    try beginReading(.add(item, by: component), context: context).end()
  }

  /// The application password of an item that can be added, and whether the call and the session are those in which it was asked for;
  /// `nil` if its access requires none.
  func newPassword(
    of item: NewItem, by component: Component?, noting notes: inout [AuditNote],
    context: AuthenticationContext?
  ) throws(VaultError) -> (key: PasswordKey, validity: CallValidity)? {
    guard item.access.constraints.contains(.applicationPassword) else { return nil }
    // An item that cannot be added is refused before a prompt for its password.
    try permitAdding(item, by: component, context: context)
    let validity = CallValidity(self, context: context)
    var verification = Authentication(core: self, context: context, operation: .add)
    do throws(VaultError) {
      let password = try verification.newPassword(for: item)
      notes += verification.notes
      return (password, validity)
    } catch {
      logWherePossible(verification.notes)
      throw error
    }
  }
}

/// A secret that an operation may need twice.
func boxed(_ secret: consuming SecretBytes?) -> SharedSecret? {
  guard let secret = consume secret else { return nil }
  return SharedSecret(secret)
}
