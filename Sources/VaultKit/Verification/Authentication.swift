import VaultFormat
import VaultKeys
import SecretMemory
import TextPreparation
import VaultCrypto
import VaultStorage

/// One verification of a person for one operation. The secrets that the person gives open the item's data key. Runs
/// outside every transaction. The vault counts each attempt on disk before it judges the attempt.
///
/// A secret that was given serves all items of this verification, and further items for as long as the context
/// allows.
struct Authentication {
  let core: VaultCore
  var asking: Asking
  /// The version of the material to open, if it is a former one.
  var version: UInt64?
  private var passcode: PasscodeKeys?
  var member: (id: [UInt8], half: SharedSecret)?
  var login: (id: [UInt8], half: SharedSecret)?

  init(core: VaultCore, context: AuthenticationContext?, operation: ItemOperation) {
    self.core = core
    asking = Asking(
      context: context, operation: operation, environment: core.environment,
      validity: CallValidity(core, context: context)
    ) {
      core.logWherePossible($0)
    }
  }

  /// Notes to log with the operation or its denial.
  var notes: [AuditNote] { asking.notes }
  /// The last item that was examined.
  var item: Item? { asking.item }
  /// The session this started in, or that of ``renew()``. Locking the vault discards the result.
  var session: UInt64 { asking.validity.session }

  /// Goes on under the keys that another process has made meanwhile: what was given is compared with them.
  mutating func renew() { asking.validity.renew() }

  /// Whether a person has answered: what they answered is for the keys of then.
  var hasAsked: Bool { asking.hasAsked }

  /// Opens the data key of an item.
  ///
  /// - Parameter component: The component that asks, with the further secrets that the item's policy requires.
  /// - Throws: ``VaultError/Code/itemNotFound``, ``VaultError/Code/invalidated``; `.interactionNotAllowed`,
  ///   `.authenticationFailed`, `.cancelled`, `.passcodeDelay`, `.biometryLocked`, `.locked`, `.policy`, `.expired`.
  mutating func open(_ id: ItemID, by component: Component?) throws(VaultError) -> VerifiedItem {
    var locked = try core.lockedItem(id, version: version)
    asking.item = locked.item
    try Gate.permit(asking.operation, on: locked.item, by: component)
    try Gate.refuseExpired(locked.item, operation: asking.operation, now: locked.now)
    try refuseDead(locked)
    if let why = locked.whyLocked {
      guard why.code == .locked else { throw why }
      _ = try passcodeKeys()
      locked = try core.lockedItem(id, version: version)
      if let why = locked.whyLocked { throw why }
    }
    let (factors, privates) = try show(try ways(locked), with: locked.factors)
    let halves = factors.map { locked.factors.header.factors[$0]! }
    var dataKey: SharedSecret?
    var password: PasswordKey?
    if locked.item.hasSecret {
      guard let alternative = locked.alternatives.first(where: { $0.factors == factors }) else {
        throw VaultError(crypto: .malformed)
      }
      let further = component.furtherSecrets(password: nil)
      // A change of attributes needs the person, and not the key.
      if further.names.union(.password).isSuperset(of: alternative.further) || asking.operation != .update {
        (dataKey, password) = try open(
          alternative, privates: privates, halves: halves, further: further, locked: locked)
      }
    }
    try asking.refuseInvalid()
    return VerifiedItem(
      item: locked.item.id, dataKey: dataKey, password: password,
      shown: try shown(factors, of: locked.factors), material: locked.row.material,
      version: locked.row.version, policyHash: locked.item.policy.hash)
  }

  /// Verifies constraints without an item, in an unlocked vault: only unlocking authenticates the factors. If the vault
  /// is locked, it is unlocked first.
  mutating func show(_ constraints: Constraints) throws(VaultError) -> ShownFactors {
    if core.hasPasscode, !core.isUnlocked { _ = try passcodeKeys() }
    let (ways, factors) = try core.ways(to: constraints)
    let (way, _) = try show(inOrder(ways), with: factors)
    return try shown(way, of: factors)
  }

  /// Gets the passcode and unlocks the vault with it.
  mutating func unlock() throws(VaultError) { _ = try passcodeKeys() }

  /// The key of a new application password. Prompts twice.
  mutating func newPassword(for new: NewItem) throws(VaultError) -> PasswordKey {
    try asking.newPassword(for: new)
  }

  // MARK: Ways

  /// The first way whose factors are all verified, with the private halves of these factors.
  private mutating func show(
    _ ways: [[Factor]], with factors: FactorSlots
  ) throws(VaultError) -> ([Factor], [Factor: SharedSecret]) {
    try asking.refuseInvalid()
    var refusal = Self.dead
    for way in ways {
      asking.isDeclined = false
      do throws(VaultError) {
        var privates: [Factor: SharedSecret] = [:]
        for factor in way { privates[factor] = try half(of: factor, factors) }
        try asking.refuseInvalid()
        return (way, privates)
      } catch {
        refusal = error
        guard mayTryAnother(error) else { throw error }
      }
    }
    throw refusal
  }

  /// What the person showed for one way: its factors, and the member or the passcode that opened them.
  private func shown(_ way: [Factor], of factors: FactorSlots) throws(VaultError) -> ShownFactors {
    let ids = [member?.id, login?.id].compactMap { $0 }
    let members = try factors.enrolledSet().members.filter { ids.contains($0.id) }.map(\.factor)
    let header = factors.header
    return ShownFactors(
      halves: header.factors.filter { way.contains($0.key) || members.contains($0.key) },
      passcode: passcode?.derivation)
  }

  /// The ways to an item's data key that are open.
  private func ways(_ locked: LockedItem) throws(VaultError) -> [[Factor]] {
    var ways = try locked.item.policy.ways()
    if !locked.alternatives.isEmpty {
      let stored = locked.alternatives.map(\.factors)
      guard stored.allSatisfy(ways.contains) else { throw VaultError(crypto: .malformed) }
      ways = stored
    }
    let alive = ways.filter { $0.allSatisfy(locked.factors.header.isAlive) }
    guard !alive.isEmpty else { throw Self.dead }
    return inOrder(alive)
  }

  /// First the ways that need no prompt, then those without the passcode, then the others.
  private func inOrder(_ ways: [[Factor]]) -> [[Factor]] {
    ways.filter { $0.allSatisfy(isAtHand) }
      + ways.filter { !$0.allSatisfy(isAtHand) && !$0.contains(.passcode) }
      + ways.filter { !$0.allSatisfy(isAtHand) && $0.contains(.passcode) }
  }

  private func refuseDead(_ locked: LockedItem) throws(VaultError) {
    let isOpen = try locked.item.policy.ways().contains { $0.allSatisfy(locked.factors.header.isAlive) }
    guard isOpen else { throw Self.dead }
  }

  private func isAtHand(_ factor: Factor) -> Bool {
    if factor == .passcode { return isPasscodeAtHand }
    return isMemberAtHand || (factor == .presence && (isPasscodeAtHand || login != nil || keptLogin != nil))
  }

  private var isPasscodeAtHand: Bool {
    passcode != nil || keptPasscode != nil || asking.context?.memory.given(.passcode) != nil
  }

  private var isMemberAtHand: Bool {
    member != nil || keptMember != nil || asking.context?.memory.given(.phrase) != nil
  }

  private func mayTryAnother(_ error: VaultError) -> Bool {
    asking.isDeclined || error.code.isLockout
      || [.policy, .unsupported, .interactionNotAllowed].contains(error.code)
  }

  private mutating func half(of factor: Factor, _ factors: FactorSlots) throws(VaultError) -> SharedSecret {
    if factor == .passcode { return try factors.half(of: .passcode, by: passcodeKeys()) }
    guard factor == .presence else {
      let (member, own) = try shownMember(factors)
      return try factors.half(of: factor, by: member, own)
    }
    return try presence(factors)
  }

  /// Tries factors that were given or verified already, then a member of the set, the login password, and the
  /// passcode.
  private mutating func presence(_ factors: FactorSlots) throws(VaultError) -> SharedSecret {
    let set = try factors.enrolledSet()
    if let shown = login ?? keptLogin, let known = set.login, known.id == shown.id {
      login = shown
      return try factors.half(of: .presence, by: known, shown.half)
    }
    if isMemberAtHand || !isPasscodeAtHand, !set.biometric.isEmpty {
      do throws(VaultError) {
        let (member, own) = try shownMember(factors)
        return try factors.presence(by: factors.half(of: .any, by: member, own))
      } catch { guard mayTryAnother(error) else { throw error } }
    }
    if !isPasscodeAtHand, let known = set.login {
      asking.isDeclined = false
      do throws(VaultError) {
        if let own = try byLogin(known, factors: factors) {
          return try factors.half(of: .presence, by: known, own)
        }
      } catch { guard mayTryAnother(error) else { throw error } }
    }
    return try factors.half(of: .presence, by: passcodeKeys())
  }

  // MARK: Passcode

  private mutating func passcodeKeys() throws(VaultError) -> PasscodeKeys {
    if let shown = passcode ?? keptPasscode {
      // A rotation by another process closes the classes, but the passcode is still the same.
      if !core.isUnlocked, try !core.opened(with: shown, for: asking.validity) {
        throw VaultError(.busy, "the passcode was changed by another process", hint: "try again")
      }
      passcode = shown
      return shown
    }
    try core.refuseDelay()
    let (core, validity, witness) = (core, asking.validity, asking.context?.witness)
    let keys = try asking.typed(.passcode, left: core.triesBeforeDelay()) {
      (bytes, shown) throws(VaultError) -> PasscodeKeys in
      let keys = try core.verified(Passcode(bytes.copy(), shown: shown), for: validity)
      witness?.note(bytes)
      return keys
    }
    passcode = keys
    asking.keep(.passcode(keys))
    return keys
  }

  private var keptPasscode: PasscodeKeys? {
    let derivation = try? core.keysNow().header.passcodeDerivation
    for kept in asking.kept {
      if case .passcode(let keys) = kept.shown, keys.derivation == derivation { return keys }
    }
    return nil
  }

  // MARK: Application password

  private mutating func open(
    _ alternative: Alternative, privates: [Factor: SharedSecret], halves: [[UInt8]], further: FurtherSecrets,
    locked: LockedItem
  ) throws(VaultError) -> (SharedSecret?, PasswordKey?) {
    let place = Alternative.Place(
      vault: locked.factors.header.vault, row: locked.row, policyHash: locked.item.policy.hash)
    guard let derivation = alternative.password else {
      do throws(CryptoError) {
        let key = try alternative.open(with: privates, halves, further: further, at: place)
        return (SharedSecret(key), nil)
      } catch { throw VaultError(crypto: error) }
    }
    let core = core
    return try asking.typed(.applicationPassword) {
      (bytes, _) throws(VaultError) -> (SharedSecret?, PasswordKey?) in
      let prepared = try derivation.prepare(for: .applicationPassword, in: core.environment)
      return try ApplicationPassword(bytes.copy()).typed.firstRight {
        (form) throws(VaultError) -> (SharedSecret?, PasswordKey?) in
        let password = PasswordKey(prepared.key(from: form), derivation: derivation)
        var further = further
        further.password = password
        do throws(CryptoError) {
          let key = try alternative.open(with: privates, halves, further: further, at: place)
          return (SharedSecret(key), password)
        } catch .commitmentMismatch {
          throw VaultError(.authenticationFailed, "wrong application password")
        } catch { throw VaultError(crypto: error) }
      }
    }
  }

  private static var dead: VaultError {
    VaultError(
      .invalidated, "the item cannot be opened any more: the enrolled set has changed since it was stored",
      hint: "delete it and store it again")
  }
}
