import DeviceKeys
import VaultFormat
import VaultKeys
import VaultStorage
public import SecretMemory

// The actor is a thin shell around a synchronous core, `VaultCore`. Each call is one hop.

/// A vault: items with secrets, sealed, with access control.
///
/// Several tasks may share the actor, and several processes may open the same file. Each call is one transaction: when it returns, the
/// change is on the disk. For many operations use `read` and `write`, which lend one transaction to a closure. The actor has its own
/// executor, so calls that block (the file, key derivations) never hold a thread of the shared pool.
public actor Vault {
  package let core: VaultCore
  private let executor: VaultExecutor

  /// The executor of this vault alone.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  private init(_ core: VaultCore, executor: VaultExecutor = VaultExecutor()) {
    self.core = core
    self.executor = executor
    core.startEndTimer()
  }

  /// The same open vault for calls that serve another process. A program that serves others logs whom it serves:
  ///
  /// ```swift
  /// let peer = try Caller(peerOf: connection)
  /// let secret = try await vault.asked(by: peer).secret(of: item.id)
  /// ```
  ///
  /// The entries of these calls name this process and the caller (``AuditEntry/caller``), and prompts show the caller.
  /// What a person verified for one caller serves no other, also where calls share a context. Everything else is shared:
  /// ``lock()`` locks the vault for all callers. Costs no file and no thread.
  public nonisolated func asked(by caller: Caller) -> Vault {
    Vault(core.asked(by: caller), executor: executor)
  }

  /// Creates a vault. Throws, and creates nothing, when the path already exists.
  ///
  /// - Parameters:
  ///   - path: Where to create the file. Missing directories are made with mode 0700.
  ///   - protector: Who keeps the device key; `nil` for a file outside the vault's directory.
  ///   - passcode: `nil` for a vault that is never locked.
  /// - Throws: ``VaultError/Code/vaultExists``, ``VaultError/Code/io``, the `deviceKey…` codes.
  public static func create(
    at path: VaultPath, protector: (any Protector)? = nil, passcode: consuming Passcode? = nil
  ) async throws(VaultError) -> Vault {
    let keeper: any Protector
    if let protector { keeper = protector } else { keeper = try FileProtector.standard() }
    return Vault(try await VaultMaker().create(at: path, protector: keeper, passcode: passcode))
  }

  /// Opens a vault. Creates nothing.
  ///
  /// - Parameters:
  ///   - path: The vault file.
  ///   - protector: `nil` for the protector that the vault's header names.
  /// - Throws: ``VaultError/Code/vaultMissing``, ``VaultError/Code/damaged``, ``VaultError/Code/newerFormat``,
  ///   ``VaultError/Code/olderFormat``,
  ///   the `deviceKey…` codes, ``VaultError/Code/io``.
  public static func open(at path: VaultPath, protector: (any Protector)? = nil) async throws(VaultError)
    -> Vault
  {
    Vault(try await VaultMaker().open(at: path, protector: protector))
  }

  package init(core: VaultCore) { self.init(core) }

  // MARK: Locking

  /// Unlocks with the passcode. The vault counts the attempt on disk first.
  ///
  /// - Throws: ``VaultError/Code/authenticationFailed`` with `attemptsLeft`, ``VaultError/Code/passcodeDelay`` with
  ///   `retryAfter`; ``VaultError/Code/appCancelled`` if the task is cancelled or the vault is locked before the passcode
  ///   is found to be right.
  public func unlock(with passcode: consuming Passcode) async throws(VaultError) {
    let shown = passcode.shown
    try await unlock(SharedSecret(passcode.intoBytes()), shown: shown)
  }

  /// Unlocks with the passcode that the context was given or asks for.
  ///
  /// - Throws: As ``unlock(with:)``, and ``VaultError/Code/interactionNotAllowed``, ``VaultError/Code/cancelled``,
  ///   ``VaultError/Code/timedOut``.
  public func unlock(with context: AuthenticationContext) async throws(VaultError) {
    try await asking(context) { core, context throws(VaultError) in try core.unlock(with: context!) }
  }

  /// Wipes at once the keys that the passcode opened. Ends the prompts of other calls that are open: these calls throw
  /// ``VaultError/Code/appCancelled``, and an answer opens nothing.
  ///
  /// *At once* means that this waits for no other call. When it returns, none of these keys can be had any more. A key that another call
  /// is using at this moment is wiped when this one use has ended: when one secret is opened or sealed, or some hundred entries of the
  /// log are checked. A call that has used these keys throws ``VaultError/Code/locked`` at its next use of one, and before its commit,
  /// so that it changes nothing; a rotation goes on after the next unlock. In the closure of `read`, `write` or `progress`, this takes
  /// effect at the end of that transaction, whose changes are made.
  ///
  /// Does not wipe the secrets that a context was given or keeps: ``AuthenticationContext/invalidate()`` wipes those.
  public nonisolated func lock() { core.lock() }

  /// Whether everything that a passcode guards is open now: then no item is ``VaultError/Code/locked``.
  ///
  /// Each call reads the keys of the file. Another process that changed the passcode, set one, removed it, or replaced the keys of
  /// the vault has locked it here. False too if the vault cannot be read. Asks no protector. The answer is of this moment: another process can
  /// lock the vault right after it.
  public var isUnlocked: Bool { core.isUnlocked }

  /// Sets a passcode when none is set. Removes what a former holder of the device key could have planted: members,
  /// factors, audit roots, and the recovery code, unless the person gives it.
  ///
  /// - Parameters:
  ///   - new: The passcode.
  ///   - recovery: Whether to keep or drop the recovery code. Required when the vault has one (``status()``).
  /// - Returns: The trust that was removed.
  /// - Throws: ``VaultError/Code/policy``; ``VaultError/Code/authenticationFailed`` for another vault's code.
  @discardableResult
  public func setPasscode(
    _ new: consuming Passcode, recovery: consuming RecoveryChoice? = nil
  ) throws(VaultError) -> ForgottenTrust {
    try core.setPasscode(new, recovery: recovery)
  }

  /// Changes the passcode. Does not rewrite items.
  public func changePasscode(from old: consuming Passcode, to new: consuming Passcode) throws(VaultError) {
    try core.changePasscode(from: old, to: new)
  }

  /// Removes the passcode. Destroys the items of ``Accessibility/whenPasscodeSet`` permanently and returns their
  /// names.
  public func removePasscode(_ old: consuming Passcode) throws(VaultError) -> DestroyedItems {
    try core.removePasscode(old)
  }

  /// Makes a recovery code, to be shown once. An earlier code no longer works. If a passcode is set, the vault must
  /// be unlocked.
  public func makeRecoveryCode() throws(VaultError) -> RecoveryCode { try core.makeRecoveryCode() }

  /// Checks that a recovery code opens this vault. Changes nothing.
  ///
  /// - Throws: ``VaultError/Code/authenticationFailed`` if it does not.
  public func checkRecoveryCode(_ code: borrowing RecoveryCode) throws(VaultError) {
    try core.checkRecoveryCode(code)
  }

  /// Removes the recovery code. If a passcode is set, the vault must be unlocked.
  public func removeRecoveryCode() throws(VaultError) { try core.removeRecoveryCode() }

  // MARK: Items

  /// Adds an item; durable when this returns. Prompts only for a missing secret: the passcode of a locked vault, the
  /// item's application password.
  ///
  /// - Throws: ``VaultError/Code/duplicateItem``, ``VaultError/Code/locked``, ``VaultError/Code/malformed``,
  ///   ``VaultError/Code/policy`` for a constraint that no passcode or member of the vault can satisfy, and for an item
  ///   of a component (one-time password, PIN, biokey, token …) or a key that is not exportable, which only the component
  ///   of its kind adds; ``VaultError/Code/unsupported`` for a kind that this version does not know.
  public func add(
    _ item: NewItem, secret: consuming SecretBytes? = nil, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> Item {
    guard let context else { return try core.add(item, secret: secret) }
    let box = boxed(secret)
    return try await asking(context) { core, context throws(VaultError) in
      try core.add(item, secret: box?.bytes.copy(), context: context)
    }
  }

  /// The items that match, in the order of insertion. No match is not an error.
  ///
  /// Asks no person, also in a locked vault: an item's attributes open with the device key, and its access rule guards its
  /// secret. ``Query/constrained`` can leave out items with constraints.
  public func items(matching query: Query) throws(VaultError) -> [Item] { try core.items(matching: query) }

  /// The item with this name. Asks no person.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``, ``VaultError/Code/damaged``.
  public func item(named name: String) throws(VaultError) -> Item { try core.item(named: name) }

  /// Whether an item has expired: by the wall clock, or by the time that the vault has recorded. A password is given then all the same,
  /// unless its ``Item/expiry`` is ``ExpiryRule/refuse``: a program that shows it says so.
  public func hasExpired(_ item: Item) throws(VaultError) -> Bool { try core.expiryMoment().hasExpired(item) }

  /// The secret of an item.
  ///
  /// While a prompt is open, other calls of the vault go on. If the task is cancelled, the context is invalidated or the
  /// vault is locked meanwhile, the prompt ends and nothing is opened.
  ///
  /// - Parameters:
  ///   - item: The item.
  ///   - context: Verifies the person if the item has constraints.
  /// - Throws: ``VaultError/Code/policy`` for a secret that only the component of the item's kind uses;
  ///   ``VaultError/Code/unsupported`` for an item that this version does not understand;
  ///   ``VaultError/Code/itemNotFound``, ``VaultError/Code/invalidated``, ``VaultError/Code/locked``,
  ///   ``VaultError/Code/expired`` for an item whose expiry refuses it, ``VaultError/Code/damaged``; when a person must be verified
  ///   ``VaultError/Code/interactionNotAllowed``, ``VaultError/Code/authenticationFailed``,
  ///   ``VaultError/Code/cancelled``, ``VaultError/Code/appCancelled``, ``VaultError/Code/timedOut``,
  ///   ``VaultError/Code/passcodeDelay``, ``VaultError/Code/biometryLocked``; ``VaultError/Code/busy`` if the item, its
  ///   rule or the factors of the vault were changed while the person was verified.
  public func secret(of item: ItemID, context: AuthenticationContext? = nil) async throws(VaultError)
    -> SecretBytes
  {
    try await asking(context) { core, context throws(VaultError) in
      try core.secret(of: item, context: context)
    }
  }

  /// Changes an item, and its secret if a new one is given.
  ///
  /// - Throws: ``VaultError/Code/policy`` for a new secret, a parameter or an expiry that only the component of the
  ///   item's kind changes.
  @discardableResult
  public func update(
    _ item: ItemID, _ changes: ItemChanges, secret: consuming SecretBytes? = nil,
    context: AuthenticationContext? = nil
  ) async throws(VaultError) -> Item {
    let box = boxed(secret)
    return try await asking(context) { core, context throws(VaultError) in
      try core.update(item, changes, secret: box?.bytes.copy(), context: context)
    }
  }

  /// Deletes all items that match, without a prompt. Returns their number.
  ///
  /// - Parameter query: Which items; ``Query/all`` for every item.
  /// - Throws: ``VaultError/Code/malformed`` for an empty query other than ``Query/all``; ``VaultError/Code/policy`` for
  ///   a PIN without all the items behind it. Nothing is deleted then.
  @discardableResult
  public func delete(_ query: Query) throws(VaultError) -> Int { try core.delete(query) }

  /// Deletes an item, without a prompt.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``.
  public func delete(_ item: ItemID) throws(VaultError) { try core.delete(item) }

  // MARK: Members

  /// The ways in which the vault can verify a person. They decide how an item's constraints are enforced.
  public func verificationSources() throws(VaultError) -> VerificationSources {
    try core.verificationSources()
  }

  /// The members of the enrolled set, in the order of their enrollment.
  public func enrolledMembers() throws(VaultError) -> [EnrolledMember] { try core.enrolledMembers() }

  /// Enrolls a phrase as a member. This changes the set: earlier ``Constraints/biometryCurrentSet`` items no longer
  /// open, ever.
  ///
  /// - Throws: ``VaultError/Code/policy`` without a passcode, ``VaultError/Code/duplicateItem``.
  public func enroll(
    _ phrase: consuming BiometricPhrase, named name: String, passcode: consuming Passcode
  ) throws(VaultError) -> EnrolledMember {
    try core.enroll(phrase, named: name, passcode: passcode)
  }

  /// Makes the fingers of a reader the fingers of the enrolled set. **Advisory in this process**: a reader gives no
  /// key. The set changes if its fingers change.
  ///
  /// - Returns: The fingers that were not members before.
  /// - Throws: ``VaultError/Code/policy`` without a passcode and for a reader without a finger,
  ///   ``VaultError/Code/unsupported`` without a reader.
  public func enrollFingers(
    of source: any BiometrySource, passcode: consuming Passcode
  ) throws(VaultError) -> [EnrolledMember] {
    try core.enrollFingers(of: source, passcode: passcode)
  }

  /// Makes the login password a member: a presence source (PAM) then opens only ``Constraints/userPresence`` items.
  /// **Advisory in this process**: PAM gives no key. The set does not change.
  ///
  /// - Throws: ``VaultError/Code/policy`` without a passcode, ``VaultError/Code/duplicateItem``.
  public func enrollLogin(passcode: consuming Passcode) throws(VaultError) -> EnrolledMember {
    try core.enrollLogin(passcode: passcode)
  }

  /// Removes a member, without a prompt, also while the vault is locked. This changes the set, unless the member
  /// is the login password.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``; ``VaultError/Code/locked`` if the vault is locked and items of
  ///   ``Constraints/biometryCurrentSet`` would be lost, other than those of ``Accessibility/afterFirstUnlock``.
  public func removeMember(named name: String) throws(VaultError) { try core.removeMember(named: name) }

  // MARK: Care

  /// The identity and the state of the vault.
  public func status() throws(VaultError) -> VaultStatus { try core.status() }

  /// Checks everything that the open keys can check. Changes nothing.
  public func verify(progress: @Sendable (VerifyProgress) -> Void = { _ in }) throws(VaultError)
    -> VerifyReport
  {
    try core.verify(progress: progress)
  }

  /// The audit entries from a sequence on, oldest first.
  public func auditEntries(from sequence: UInt64 = 0) throws(VaultError) -> [AuditEntry] {
    try core.auditEntries(from: sequence)
  }
}
