import DeviceKeys
import VaultFormat
import VaultKeys
import VaultStorage
import Dispatch
public import SecretMemory

/// A vault: items with secrets, sealed, with access control.
///
/// The actor is a thin shell with an executor of its own over a synchronous core, so that blocking calls (SQLite, key
/// derivations) never hold a thread of the shared pool. One call is one hop; for many operations use ``read(_:)`` and
/// ``write(_:)``, which lend one transaction to a closure.
public actor Vault {
  package let core: VaultCore
  private let executor = VaultExecutor()

  /// The executor of this vault alone.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  private init(_ core: VaultCore) { self.core = core }

  /// A new vault. Nothing is created when anything is at the path already.
  ///
  /// - Parameters:
  ///   - path: Where; folders that do not exist are made with mode 0700.
  ///   - protector: Who keeps the device key; `nil` for a file outside of the vault's folder.
  ///   - passcode: `nil` for a vault that is never locked.
  /// - Throws: ``VaultError/Code/vaultExists``, ``VaultError/Code/io``, the `deviceKey…` codes.
  public static func create(
    at path: VaultPath, protector: (any Protector)? = nil, passcode: consuming Passcode? = nil
  ) async throws(VaultError) -> Vault {
    let keeper: any Protector
    if let protector { keeper = protector } else { keeper = try FileProtector.standard() }
    return Vault(try await VaultMaker().create(path, keeper, passcode))
  }

  /// Opens a vault. Creates nothing.
  ///
  /// - Parameter protector: `nil` for the one the vault's header names.
  /// - Throws: ``VaultError/Code/vaultMissing``, ``VaultError/Code/damaged``, ``VaultError/Code/newerFormat``,
  ///   ``VaultError/Code/olderFormat``,
  ///   the `deviceKey…` codes, ``VaultError/Code/io``.
  public static func open(at path: VaultPath, protector: (any Protector)? = nil) async throws(VaultError)
    -> Vault
  {
    Vault(try await VaultMaker().open(path, protector))
  }

  package init(core: VaultCore) { self.init(core) }

  // MARK: Locking

  /// Unlocks with the passcode; the attempt is counted on disk first.
  ///
  /// - Throws: ``VaultError/Code/authenticationFailed``, ``VaultError/Code/lockedOut`` with `retryAfter`.
  public func unlock(with passcode: consuming Passcode) throws(VaultError) { try core.unlock(with: passcode) }

  /// Unlocks with the passcode that the context was given or asks for.
  ///
  /// - Throws: As ``unlock(with:)``, and ``VaultError/Code/interactionNotAllowed``, ``VaultError/Code/cancelled``.
  public func unlock(with context: AuthenticationContext) throws(VaultError) {
    try core.unlock(with: context)
  }

  /// Wipes what the passcode opened, at once: also while a prompt of another call is open, whose answer then opens nothing.
  ///
  /// What a context was given or has kept is the context's: ``AuthenticationContext/invalidate()`` wipes that.
  public nonisolated func lock() { core.lock() }

  /// Whether everything a passcode guards is open.
  public var isUnlocked: Bool { core.isUnlocked }

  /// Sets a passcode when none is set, and forgets what a former holder of the device key could have planted: members,
  /// factors, audit roots, and the recovery code unless the person gives it.
  ///
  /// - Parameter recovery: Needed where the vault has a recovery code (``status()``): keep it or drop it.
  /// - Returns: What was forgotten.
  /// - Throws: ``VaultError/Code/policy``; ``VaultError/Code/authenticationFailed`` for another vault's code.
  @discardableResult
  public func setPasscode(
    _ new: consuming Passcode, recovery: consuming RecoveryChoice? = nil
  ) throws(VaultError) -> ForgottenTrust {
    try core.setPasscode(new, recovery: recovery)
  }

  /// Changes the passcode; touches no item.
  public func changePasscode(from old: consuming Passcode, to new: consuming Passcode) throws(VaultError) {
    try core.changePasscode(from: old, to: new)
  }

  /// Removes the passcode. Items of ``Accessibility/whenPasscodeSet`` are destroyed for good and returned by name.
  public func removePasscode(_ old: consuming Passcode) throws(VaultError) -> DestroyedItems {
    try core.removePasscode(old)
  }

  /// Makes a recovery code, to be shown once; an earlier one no longer works from then on. With a passcode set the vault
  /// must be unlocked.
  public func makeRecoveryCode() throws(VaultError) -> RecoveryCode { try core.makeRecoveryCode() }

  /// Whether a recovery code opens this vault; changes nothing.
  ///
  /// - Throws: ``VaultError/Code/authenticationFailed`` where it does not.
  public func checkRecoveryCode(_ code: borrowing RecoveryCode) throws(VaultError) {
    try core.checkRecoveryCode(code)
  }

  /// Removes the recovery code. With a passcode set the vault must be unlocked.
  public func removeRecoveryCode() throws(VaultError) { try core.removeRecoveryCode() }

  // MARK: Items

  /// Adds an item; durable when this returns. Asks nobody but for what is missing: the passcode of a locked vault, the
  /// item's application password.
  ///
  /// - Throws: ``VaultError/Code/duplicateItem``, ``VaultError/Code/locked``, ``VaultError/Code/malformed``,
  ///   ``VaultError/Code/policy`` for a constraint that the vault has nothing for.
  public func add(
    _ item: NewItem, secret: consuming SecretBytes? = nil, context: AuthenticationContext? = nil
  ) throws(VaultError) -> Item {
    try core.add(item, secret: secret, context: context)
  }

  /// The items that match, in the order of insertion; none is no error.
  ///
  /// - Parameter context: Who is asked, once, where items with constraints match; ``Query/constrained`` can leave them out.
  public func items(matching query: Query, context: AuthenticationContext? = nil) throws(VaultError) -> [Item]
  {
    try core.items(matching: query, context: context)
  }

  /// The secret of an item.
  ///
  /// - Parameter context: Who is asked where the item has constraints.
  /// - Throws: ``VaultError/Code/itemNotFound``, ``VaultError/Code/locked``, ``VaultError/Code/expired``,
  ///   ``VaultError/Code/damaged``; ``VaultError/Code/interactionNotAllowed``, ``VaultError/Code/authenticationFailed``,
  ///   ``VaultError/Code/cancelled``, ``VaultError/Code/lockedOut`` where somebody is asked.
  public func secret(of item: ItemID, context: AuthenticationContext? = nil) throws(VaultError) -> SecretBytes
  {
    try core.secret(of: item, context: context)
  }

  /// Lends the secret of an item to a closure.
  public func withSecret<R>(
    of item: ItemID, context: AuthenticationContext? = nil, _ body: sending (RawSpan) throws -> sending R
  ) throws -> sending R {
    let secret = try core.secret(of: item, context: context)
    return try secret.expose { span in try body(span) }
  }

  /// Changes an item and, where one is given, its secret.
  @discardableResult
  public func update(
    _ item: ItemID, _ changes: ItemChanges, secret: consuming SecretBytes? = nil,
    context: AuthenticationContext? = nil
  ) throws(VaultError) -> Item {
    try core.update(item, changes, secret: secret, context: context)
  }

  /// Deletes all items that match; returns how many. Never asks.
  @discardableResult
  public func delete(_ query: Query) throws(VaultError) -> Int { try core.delete(query) }

  // MARK: Members

  /// What the vault can verify a person with: says what makes an item's constraints hold.
  public func verificationSources() throws(VaultError) -> VerificationSources {
    try core.verificationSources()
  }

  /// The members of the enrolled set, in the order of their enrolment.
  public func enrolledMembers() throws(VaultError) -> [EnrolledMember] { try core.enrolledMembers() }

  /// Enrolls a phrase as a member. The set is another one from then on: ``Constraints/biometryCurrentSet`` items of before
  /// can be opened by nobody any more.
  ///
  /// - Throws: ``VaultError/Code/policy`` without a passcode, ``VaultError/Code/duplicateItem``.
  public func enroll(
    _ phrase: consuming BiometricPhrase, named name: String, passcode: consuming Passcode
  ) throws(VaultError) -> EnrolledMember {
    try core.enroll(phrase, named: name, passcode: passcode)
  }

  /// Makes the fingers of a reader the fingers of the enrolled set. **Advisory in this process**: a reader gives no key. The
  /// set is another one from then on, if they differ from those that it had.
  ///
  /// - Returns: Those that were not members before.
  /// - Throws: ``VaultError/Code/policy`` without a passcode and for a reader without a finger, ``VaultError/Code/unsupported``
  ///   without a reader.
  public func enrollFingers(
    of source: any BiometrySource, passcode: consuming Passcode
  ) throws(VaultError) -> [EnrolledMember] {
    try core.enrollFingers(of: source, passcode: passcode)
  }

  /// Makes the login password a member: a presence source (PAM) then opens ``Constraints/userPresence`` items, and no others.
  /// **Advisory in this process**: PAM gives no key. No set changes.
  ///
  /// - Throws: ``VaultError/Code/policy`` without a passcode, ``VaultError/Code/duplicateItem``.
  public func enrollLogin(passcode: consuming Passcode) throws(VaultError) -> EnrolledMember {
    try core.enrollLogin(passcode: passcode)
  }

  /// Removes a member; works while the vault is locked, and asks nobody. The set is another one from then on, unless it was
  /// the login password.
  public func removeMember(named name: String) throws(VaultError) { try core.removeMember(named: name) }

  // MARK: Transactions

  /// Lends one state of the vault to a closure.
  public func read<R>(_ body: sending (inout ReadTransaction) throws -> sending R) throws -> sending R {
    try core.read { transaction in try body(&transaction) }
  }

  /// Lends the vault to a closure that changes it: all or nothing, durable when this returns.
  public func write<R>(_ body: sending (inout WriteTransaction) throws -> sending R) throws -> sending R {
    try core.write { transaction in try body(&transaction) }
  }

  // MARK: Care

  /// What the vault is and how it is kept.
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

/// Makes and opens vaults on a queue of its own: a key derivation must not hold the caller's actor.
private actor VaultMaker {
  private let executor = VaultExecutor()
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  func create(
    _ path: VaultPath, _ protector: any Protector, _ passcode: consuming Passcode?
  ) throws(VaultError) -> VaultCore {
    try VaultCore.create(at: path.path, protector: protector, passcode: passcode)
  }

  func open(_ path: VaultPath, _ protector: (any Protector)?) throws(VaultError) -> VaultCore {
    try VaultCore.open(at: path.path, protector: protector)
  }
}

/// A serial executor on a queue of its own: what blocks here never blocks the shared pool.
private final class VaultExecutor: SerialExecutor {
  private let queue = DispatchQueue(label: "vault")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}
