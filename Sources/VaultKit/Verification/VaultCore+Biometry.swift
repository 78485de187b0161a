package import VaultFormat
import VaultKeys

/// Where the failures of phrases and fingers count. At five, none is judged.
enum BiometryCount {
  /// In the vault, until the passcode is right.
  case vault
  /// In the biokey that they open, until its PIN is right.
  case biokey(ItemID, pin: ItemID)

  init(_ item: Item?) {
    guard let item, let pin = item.pinOfBiokey else {
      self = .vault
      return
    }
    self = .biokey(item.id, pin: pin)
  }

  fileprivate var lock: VaultError {
    switch self {
    case .vault:
      VaultError(
        .biometryLocked,
        "biometry is locked: after \(BiometryLockout.limit) failures, or because the file was copied or restored",
        hint: "unlock the vault with the passcode: that ends it", attemptsLeft: 0)
    case .biokey:
      VaultError(
        .biokeyLocked, "the biokey is locked after \(BiometryLockout.limit) failures",
        hint: "use the PIN: a right one ends it", attemptsLeft: 0)
    }
  }
}

extension Item {
  /// The PIN item whose PIN a biokey replaces, as its attribute says; `nil` for an item of another kind.
  package var pinOfBiokey: ItemID? { kind == .biokey ? attributes[.pinItem].flatMap(ItemID.init) : nil }
}

extension ItemState {
  /// The failures of a biokey that still count: a right PIN since then, which made another use of the PIN item, has ended
  /// the others.
  package func biokeyFailures(uses: UInt64) -> UInt32 { counter == uses ? failures : 0 }
}

extension ReadTransaction {
  /// Whether this is a locked copy that cannot be written, so that nothing can mark it and no attempt can be counted.
  fileprivate mutating func isUncountedCopy() throws(VaultError) -> Bool {
    guard store.rows.isReadOnly, !store.keys.isUnlocked else { return false }
    let identity = try store.head().fileIdentity
    return identity != 0 && identity != store.rows.fileIdentity
  }
}

/// The attempts of phrases and fingers.
extension VaultCore {
  /// Throws if biometry is locked, before any prompt. While that of the vault is locked, no biokey is opened either.
  ///
  /// - Returns: How many attempts are left.
  @discardableResult
  func refuseLockedBiometry(_ count: BiometryCount) throws(VaultError) -> Int {
    if case .biokey = count { try refuseLockedBiometry(.vault) } else { try markIfCopied() }
    let left = try attemptsLeft(count)
    guard left > 0 else { throw count.lock }
    return left
  }

  /// Throws if a biokey is locked, as ``refuseLockedBiometry(_:)``.
  package func refuseLocked(biokey: Item) throws(VaultError) {
    try refuseLockedBiometry(BiometryCount(biokey))
  }

  /// How many more failures lock a biokey; 0 if it is locked.
  package func attemptsLeft(ofBiokey item: Item) throws(VaultError) -> Int {
    try attemptsLeft(BiometryCount(item))
  }

  private func attemptsLeft(_ count: BiometryCount) throws(VaultError) -> Int {
    var transaction = try beginReading()
    let failures: UInt32
    if case .biokey(let id, let pin) = count {
      failures = try transaction.state(of: id).biokeyFailures(uses: transaction.state(of: pin).uses)
    } else if try transaction.isUncountedCopy() {
      failures = BiometryLockout.limit
    } else {
      failures = try transaction.store.vaultState().state.biometryFailures
    }
    return max(0, Int(BiometryLockout.limit) - Int(failures))
  }

  /// Judges one attempt of a member. Counts it as a failure on disk first, and takes that back if the attempt is
  /// right.
  func judgingBiometry<R>(
    _ count: BiometryCount, _ judge: () throws(VaultError) -> R
  ) throws(VaultError) -> R {
    guard try change(count, { BiometryLockout.begin(&$0) }) else { throw count.lock }
    do throws(VaultError) {
      let result = try judge()
      _ = try change(count) {
        BiometryLockout.succeed(&$0)
        return true
      }
      return result
    } catch {
      guard error.code == .authenticationFailed else {
        // An attempt that was not judged reveals nothing, so it is not counted.
        _ = try change(count) {
          BiometryLockout.takeBack(&$0)
          return true
        }
        throw error
      }
      var error = error
      if !isReadOnly { error.attemptsLeft = try attemptsLeft(count) }
      throw error
    }
  }

  private func change(
    _ count: BiometryCount, _ change: (inout UInt32) -> Bool
  ) throws(VaultError) -> Bool {
    if try judgesUncounted() { return true }
    var transaction = try beginWriting()
    let isAllowed: Bool
    if case .biokey(let id, let pin) = count {
      let uses = try transaction.state(of: pin).uses
      isAllowed = try transaction.changeState(of: id) { state in
        var failures = state.biokeyFailures(uses: uses)
        let isAllowed = change(&failures)
        (state.failures, state.counter) = (failures, uses)
        return isAllowed
      }
    } else {
      var (state, row) = try transaction.store.vaultState()
      let before = state
      isAllowed = change(&state.biometryFailures)
      if state.bytes != before.bytes { try transaction.setVaultState(state, replacing: row) }
    }
    try transaction.commit()
    return isAllowed
  }
}
