import VaultFormat
import VaultKeys
import SecretMemory
import VaultCrypto
import VaultStorage

extension VaultCore {
  /// Runs an operation. If the gate requires a verification, verifies the person and runs the operation again with
  /// the grant. This costs nothing for an item without constraints.
  ///
  /// - Parameters:
  ///   - component: The component that asks, with what the item's policy requires.
  ///   - action: What the operation is for, as a verb phrase that prompts show; `nil` for the operation's own words.
  ///   - label: The name that prompts show; `nil` for that of the item.
  ///   - body: Must throw before it changes anything if it needs a grant and has none.
  package func authorizing<R: ~Copyable>(
    _ operation: ItemOperation, on id: ItemID, by component: Component? = nil, to action: String? = nil,
    of label: String? = nil, context: AuthenticationContext?,
    body: (consuming Grant?) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    do throws(VaultError) {
      return try unlocking(context) { () throws(VaultError) in try body(nil) }
    } catch {
      guard error.code == .verificationNeeded, context?.call?.needsPerson != true else { throw error }
    }
    return try granting(
      operation, on: id, by: component, to: action, of: label, context: context, body: body)
  }

  /// Runs the last part of a call, as ``using(_:_:)``. If the vault is locked, gets the passcode from the context and runs it again.
  package func unlocking<R: ~Copyable>(
    _ context: AuthenticationContext?, _ body: () throws(VaultError) -> R
  ) throws(VaultError) -> R {
    try reopening(context) { () throws(VaultError) in try using(context, body) }
  }

  /// Runs a step after which the call can still be cancelled. If the vault is locked, gets the passcode from the context and runs
  /// the step again; if it was given, also while other processes make new keys, which lock the vault again.
  package func reopening<R: ~Copyable>(
    _ context: AuthenticationContext?, _ body: () throws(VaultError) -> R
  ) throws(VaultError) -> R {
    try repeatingUnderNewKeys(if: { () throws(VaultError) in try context?.isGiven(.passcode) ?? false }) {
      () throws(VaultError) in
      try unlockingIfNeeded(body) { (locked) throws(VaultError) in
        guard let context, hasPasscode, context.canShow(.passcode) else { throw locked }
        try unlock(with: context)
      }
    }
  }

  /// Runs the last part of a call, which uses what was opened. If it succeeds, the call can no longer be cancelled.
  package func using<R: ~Copyable>(
    _ context: AuthenticationContext?, _ body: () throws(VaultError) -> R
  ) throws(VaultError) -> R {
    guard context?.call?.beginUse() != false else { throw Asking.ended }
    do throws(VaultError) { return try body() } catch {
      context?.call?.endUse()
      throw error
    }
  }

  /// Unlocks with the passcode that the context has or asks for.
  ///
  /// - Throws: As ``unlock(with:)``, and ``VaultError/Code/interactionNotAllowed``, ``VaultError/Code/cancelled``.
  package func unlock(with context: AuthenticationContext) throws(VaultError) {
    guard !isUnlocked else { return }
    try context.call?.requirePerson()
    var verification = Authentication(core: self, context: context, operation: .unlock)
    do throws(VaultError) { try verification.unlock() } catch {
      logDenial(verification.notes, of: nil, error: error)
      throw error
    }
  }

  /// The ways in which the vault can verify a person.
  package func verificationSources() throws(VaultError) -> VerificationSources {
    try withHeader { header, _, keys throws(VaultError) in
      let members = try keys.enrolledSet(of: header).members
      return VerificationSources(
        hasPasscode: header.hasPasscode, hasPhrases: members.contains { $0.source == .phrase },
        hasFingers: members.contains { $0.source == .finger },
        hasLogin: members.contains { $0.source == .login })
    }
  }

  /// Whether an item's access rule can no longer be satisfied.
  package func isBeyondReach(_ item: Item) throws(VaultError) -> Bool {
    guard item.access.word != 0 else { return false }
    let ways = try item.policy.ways()
    return try withHeader { header, _, _ throws(VaultError) in
      !ways.contains { $0.allSatisfy(header.isAlive) }
    }
  }

  // MARK: For a verification

  /// An item and the alternatives that open its data key.
  func lockedItem(_ id: ItemID) throws(VaultError) -> LockedItem {
    var transaction = try beginReading()
    let row = try transaction.store.row(of: id)
    let item = try transaction.store.open(row)
    try transaction.store.readTime(for: item)
    let number = item.access.classNumber
    let key = transaction.store.keys.classKey(number, generation: row.generation)
    var alternatives: [Alternative] = []
    if let key, item.hasSecret, try item.policy.isWrapped() {
      alternatives = try transaction.store.sealedSecret(of: row, item).alternatives(under: key)
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

  /// Logs facts that remain true if the log cannot be written.
  func logWherePossible(_ notes: [AuditNote]) {
    try? log(notes)
  }

  /// Logs notes. Runs no transaction if there are none, and writes nothing to a read-only vault.
  func log(_ notes: [AuditNote]) throws(VaultError) {
    guard !notes.isEmpty, !isReadOnly else { return }
    var transaction = try beginWriting()
    try transaction.log(notes)
    try transaction.commit()
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
    try unlocking(context) { () throws(VaultError) in
      try completeEnrolledSet()
      let transaction = try beginReading()
      _ = try Gate.rule(for: item, by: component, keys: transaction.store.keys)
    }
  }

  /// Checks that an item's secret can be sealed again now. The secret is wrapped to factors, and only an unlocked
  /// vault has authenticated their halves. Unlocks the vault for it if the context can.
  func permitSealing(
    of id: ItemID, _ operation: ItemOperation, by component: Component?, _ context: AuthenticationContext?
  ) throws(VaultError) {
    try unlocking(context) { () throws(VaultError) in
      var transaction = try beginReading()
      let item = try transaction.item(id)
      try Gate.permit(operation, on: item, by: component)
      let access = item.access
      guard access.constraints.single.isEmpty || transaction.store.keys.isUnlocked else {
        throw Gate.locked(access, keys: transaction.store.keys)
      }
    }
  }

  func addConstrained(
    _ item: NewItem, secret: consuming SecretBytes?, by component: Component?, noting earlier: [AuditNote],
    context: AuthenticationContext?,
    preparing prepare: (inout NewItem, inout WriteTransaction) throws(VaultError) -> Void
  ) throws(VaultError) -> Item {
    let box = boxed(secret)
    guard box != nil || !item.access.constraints.contains(.applicationPassword) else {
      throw VaultError(
        .malformed, "an application password guards a secret, and the item has none",
        hint: "add the item with its secret")
    }
    // An item that cannot be added is refused before a prompt for its password.
    try permitAdding(item, by: component, context: context)
    var password: PasswordKey?
    var notes: [AuditNote] = []
    let validity = CallValidity(self, context: context)
    if item.access.constraints.contains(.applicationPassword) {
      try context?.call?.requirePerson()
      var verification = Authentication(core: self, context: context, operation: .add)
      do throws(VaultError) { password = try verification.newPassword(for: item) } catch {
        logWherePossible(verification.notes)
        throw error
      }
      notes = verification.notes
    }
    return try unlocking(context) { () throws(VaultError) in
      var transaction = try beginWriting()
      try validity.check(locks: transaction.store.locks)
      var item = item
      try prepare(&item, &transaction)
      try transaction.log(earlier + notes)
      let result = try transaction.add(item, secret: box?.bytes.copy(), by: component, password: password)
      try transaction.commit()
      return result
    }
  }
}

/// A secret that an operation may need twice.
func boxed(_ secret: consuming SecretBytes?) -> SharedSecret? {
  guard let secret = consume secret else { return nil }
  return SharedSecret(secret)
}
