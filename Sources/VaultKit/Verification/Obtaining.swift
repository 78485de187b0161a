import VaultFormat
import VaultKeys

/// What one use of the vault has obtained so far: the passcode that unlocked the vault, or the verification of a person.
///
/// Each transaction of the use begins with ``beginUse(in:)``. If something is missing, the transaction ends before anything is
/// changed, ``obtain()`` asks outside of every lock, and another transaction begins. The work comes after that, once.
struct Obtaining: ~Copyable {
  private let core: VaultCore
  private let use: Use
  private let context: AuthenticationContext?
  private let action: String?
  private let label: String?
  /// Whether the call, its context and the session are those in which something was first asked for; `nil` before. A lock by hand
  /// while the call waited for its turn is one that it finds.
  private var validity: CallValidity?
  private var verification: Authentication?
  private var grant: Grant?
  private var missing: Missing?
  /// Starting over while other processes make new keys.
  private var again: StartingOver
  private var hasUnlocked = false
  /// Why what was obtained is missing again.
  private var lost: VaultError?

  /// - Parameters:
  ///   - action: What the use is for, as a verb phrase that prompts show; `nil` for the operation's own words.
  ///   - label: The name that prompts show; `nil` for that of the item.
  init(
    _ core: VaultCore, _ use: Use, to action: String?, of label: String?, context: AuthenticationContext?
  ) {
    self.core = core
    self.use = use
    self.context = context
    self.action = action
    self.label = label
    again = StartingOver(core.session.latch)
  }

  /// Begins the use in a transaction that has just begun, if nothing is missing. The call then uses what it obtained, and can no longer
  /// be cancelled.
  ///
  /// - Returns: Whether the use has begun.
  /// - Throws: Why the use is refused; ``VaultError/Code/appCancelled``.
  mutating func beginUse(in transaction: inout ReadTransaction) throws(VaultError) -> Bool {
    do throws(VaultError) { missing = try transaction.missing(for: use, with: grant?.proof) } catch {
      guard grant != nil else { throw error }
      missing = .person(error)
    }
    guard let missing else {
      try validity?.check(locks: transaction.store.locks)
      try core.beginUse(context)
      transaction.grant = grant.take()
      return true
    }
    if grant != nil {
      // The verification is no longer accepted, or what it had opened is closed. Another one opens it again.
      grant = nil
      lost = missing.error
      self.missing = .person(missing.error)
    } else if case .passcode = missing, hasUnlocked {
      lost = missing.error
    }
    return false
  }

  /// Gets what was missing. Runs outside of every transaction.
  ///
  /// - Throws: The error of what is missing if the call cannot get it, or has got it before; what the verification throws.
  mutating func obtain() throws(VaultError) {
    if validity == nil { validity = CallValidity(core, context: context) }
    if let error = lost.take() {
      guard try mayStartOver(after: error) else { throw error }
    }
    again.begin()
    do throws(VaultError) {
      switch missing {
      case .passcode(let error): try unlock(else: error)
      case .person(let error): try verify(else: error)
      case nil: break
      }
    } catch {
      guard try mayStartOver(after: error) else {
        if case .person = missing, let verification {
          core.logDenial(verification.notes, of: verification.item, error: error)
        }
        throw error
      }
    }
  }

  private mutating func unlock(else error: VaultError) throws(VaultError) {
    if let context, core.hasPasscode, context.canShow(.passcode) {
      try core.unlock(with: context)
    } else if core.environment.unlocking?() != true {
      throw error
    }
    hasUnlocked = true
  }

  private mutating func verify(else error: VaultError) throws(VaultError) {
    guard let (item, operation, component) = use.verified else { throw error }
    var verification =
      verification ?? Authentication(core: core, context: context, operation: operation)
    defer { self.verification = verification }
    if let action { verification.asking.action = action }
    verification.asking.label = label
    verification.renew()
    verification.version = use.formerVersion
    grant = try Gate.grant(on: item, after: &verification, by: component)
  }

  /// Whether another process has made new keys since this was asked for, and no person would be asked a second time.
  private mutating func mayStartOver(after error: VaultError) throws(VaultError) -> Bool {
    guard again.isDue(after: error) else { return false }
    if case .person = missing { return verification?.hasAsked != true }
    return try context?.isGiven(.passcode) ?? false
  }
}

/// The one rule by which a use begins again, before anything was changed: another process has made new keys meanwhile, which end what
/// was verified and close what a passcode had opened; as long as a statement waits for a lock.
struct StartingOver: ~Copyable {
  private let latch: VaultLatch
  private var race = KeyRace()
  private var (identity, locks): (UInt64, UInt64)

  init(_ latch: VaultLatch) {
    self.latch = latch
    (identity, locks) = latch.session
  }

  /// Notes under which keys the next step begins.
  mutating func begin() { (identity, locks) = latch.session }

  /// Whether a step that failed may be done once more. Not after a lock by hand.
  mutating func isDue(after error: VaultError) -> Bool {
    let now = latch.session
    guard [.busy, .locked].contains(error.code), now.identity != identity, now.locks == locks else {
      return false
    }
    return race.mayTry()
  }
}

extension VaultCore {
  /// Begins the last part of a call, which uses what was obtained. From now on the call cannot be cancelled.
  func beginUse(_ context: AuthenticationContext?) throws(VaultError) {
    guard context?.call?.beginUse() != false else { throw CallValidity.ended }
  }

  /// Begins to read for a use, and gets what is missing for it before.
  ///
  /// - Parameters:
  ///   - first: A transaction in which the use begins, if nothing is missing in it.
  ///   - action: What the use is for, as a verb phrase that prompts show; `nil` for the operation's own words.
  ///   - label: The name that prompts show; `nil` for that of the item.
  ///   - context: Gives the passcode, or verifies the person.
  ///   - check: What else could refuse the use. Nobody is asked for a use that is refused.
  /// - Throws: Why the use is refused; ``VaultError/Code/locked``; ``VaultError/Code/interactionNotAllowed`` without a context; what
  ///   ``Authentication`` throws; ``VaultError/Code/appCancelled``.
  package func beginReading(
    _ use: Use, from first: consuming ReadTransaction? = nil, to action: String? = nil,
    of label: String? = nil, context: AuthenticationContext?,
    checking check: (inout ReadTransaction) throws(VaultError) -> Void = { _ in }
  ) throws(VaultError) -> ReadTransaction {
    var obtaining = Obtaining(self, use, to: action, of: label, context: context)
    var first = consume first
    while true {
      var transaction = try continueReading(first.take())
      try check(&transaction)
      if try obtaining.beginUse(in: &transaction) { return transaction }
      transaction.end()
      try obtaining.obtain()
    }
  }

  /// Begins to change the vault for a use, as ``beginReading(_:from:to:of:context:checking:)``.
  package func beginWriting(
    _ use: Use, to action: String? = nil, of label: String? = nil, context: AuthenticationContext?,
    checking check: (inout ReadTransaction) throws(VaultError) -> Void = { _ in }
  ) throws(VaultError) -> WriteTransaction {
    var obtaining = Obtaining(self, use, to: action, of: label, context: context)
    while true {
      var transaction = try beginWriting()
      try check(&transaction.reading)
      if try obtaining.beginUse(in: &transaction.reading) { return transaction }
      transaction.rollBack()
      try obtaining.obtain()
    }
  }

  /// A transaction that has begun already, or a new one.
  package func continueReading(_ first: consuming ReadTransaction?) throws(VaultError) -> ReadTransaction {
    if let first = consume first { return first }
    return try beginReading()
  }

  /// Runs a step again if it failed under keys that another process has replaced meanwhile (``StartingOver``).
  ///
  /// - Parameter mayRepeat: Whether no person has answered in the step: they answered under the keys of then, and are not asked a
  ///   second time.
  package func repeatingUnderNewKeys<R: ~Copyable>(
    if mayRepeat: () throws(VaultError) -> Bool, _ body: () throws(VaultError) -> R
  ) throws(VaultError) -> R {
    var again = StartingOver(session.latch)
    while true {
      again.begin()
      do throws(VaultError) { return try body() } catch {
        guard again.isDue(after: error), try mayRepeat() else { throw error }
      }
    }
  }
}
