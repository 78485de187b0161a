import VaultFormat
import VaultKeys

/// Verifying a person without an item.
extension VaultCore {
  /// Verifies a person as the constraints require. Logs a denial.
  package func evaluate(
    _ constraints: Constraints, context: AuthenticationContext
  ) throws(VaultError) -> Evaluation {
    try Self.refuseUnverifiable(constraints)
    let (shown, verification) = try verified(constraints, for: .evaluate, of: nil, context: context)
    try beginUse(context)
    try log(verification.notes)
    let clock = environment.clock
    return Evaluation(
      constraints: constraints, caller: environment.caller, session: verification.session,
      boot: clock.bootID() ?? [], madeAt: clock.bootMilliseconds(), shown: shown)
  }

  /// Verifies a person as the constraints require, for something else than the secret of an item. Logs a denial.
  func verified(
    _ constraints: Constraints, for operation: ItemOperation, of item: Item?, context: AuthenticationContext?
  ) throws(VaultError) -> (shown: ShownFactors, verification: Authentication) {
    var verification = Authentication(core: self, context: context, operation: operation)
    verification.asking.item = item
    var again = StartingOver(session.latch)
    while true {
      again.begin()
      verification.renew()
      do throws(VaultError) {
        let shown = try verification.show(constraints)
        try Gate.confirm(shown, for: verification.asking.validity)
        return (shown, verification)
      } catch {
        if again.isDue(after: error), !verification.hasAsked { continue }
        logDenial(verification.notes, of: item, error: error)
        throw error
      }
    }
  }

  /// Whether ``evaluate(_:context:)`` could succeed now.
  package func canEvaluate(_ constraints: Constraints) throws(VaultError) -> Bool {
    try Self.refuseUnverifiable(constraints)
    let clock = environment.clock
    var transaction = try beginReading()
    let keys = transaction.store.keys.current
    let header = transaction.store.keys.header
    let ways: [[Factor]]
    do throws(VaultError) { ways = try Gate.ways(to: constraints, in: transaction.store.keys) } catch {
      guard error.code == .policy else { throw error }
      return false
    }
    let state = try transaction.store.vaultState().state
    let takesPasscode = Lockout.remaining(state, clock: clock) == nil
    let set = try keys.enrolledSet(of: header)
    let takesMember = !set.biometric.isEmpty && state.biometryFailures < BiometryLockout.limit
    guard takesPasscode || transaction.store.keys.isUnlocked else { return false }
    return ways.contains { way in
      way.allSatisfy { factor in
        switch factor {
        case .passcode: takesPasscode
        case .presence: takesPasscode || takesMember || set.login != nil
        default: takesMember
        }
      }
    }
  }

  package func isCurrent(_ evaluation: Evaluation, within age: Duration) -> Bool {
    let clock = environment.clock
    let now = clock.bootMilliseconds()
    let limit = min(max(age, .zero), .seconds(300))
    guard evaluation.caller == environment.caller, evaluation.boot == clock.bootID() ?? [],
      now >= evaluation.madeAt, .milliseconds(now - evaluation.madeAt) <= limit
    else { return false }
    return (try? accepts(evaluation)) ?? false
  }

  /// In a transaction, so that the changes of other processes count.
  private func accepts(_ evaluation: Evaluation) throws(VaultError) -> Bool {
    let transaction = try beginReading()
    guard evaluation.session == transaction.store.identity else { return false }
    return try evaluation.shown.areAccepted(by: transaction.store.keys.header)
  }

  /// A digest of the enrolled set; `nil` if it is empty.
  package func enrolledSetDigest() throws(VaultError) -> [UInt8]? {
    let (header, _, keys) = try keysNow()
    let set = try keys.enrolledSet(of: header)
    // A removal in a locked vault ends the set at once; the next unlock only makes the one after it.
    let isEnded = header.revoked.contains(set.factor)
    return set.publicDigest(of: header.vault, generation: set.generation + (isEnded ? 1 : 0))
  }

  /// The ways to satisfy constraints, with the factors of an unlocked vault.
  func ways(to constraints: Constraints) throws(VaultError) -> (ways: [[Factor]], factors: FactorSlots) {
    let transaction = try beginReading()
    guard transaction.store.keys.isUnlocked else {
      throw Gate.locked(AccessControl(), keys: transaction.store.keys)
    }
    let factors = FactorSlots(
      header: transaction.store.keys.header, slots: transaction.store.keys.slots,
      keys: transaction.store.keys.current, random: environment.random)
    return (try Gate.ways(to: constraints, in: transaction.store.keys), factors)
  }

  /// An application password is the password of one item.
  private static func refuseUnverifiable(_ constraints: Constraints) throws(VaultError) {
    try constraints.check()
    guard constraints.hasSingle, !constraints.contains(.applicationPassword) else {
      throw VaultError(
        .malformed, "only a passcode, presence and biometry can be verified without an item",
        hint: "name at least one of them, and no application password")
    }
  }
}
