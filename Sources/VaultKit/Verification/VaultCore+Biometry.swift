package import VaultFormat
import VaultKeys

/// Where the failures of phrases and fingers count. At five, none is judged.
enum BiometryCount {
  /// In the vault, until the passcode is right.
  case vault
  /// In the item that they open, until another item, whose secret they stand for, is used: see ``StateRules/BiometryRule``.
  case item(ItemID, until: ItemID, lock: @Sendable () -> VaultError)

  init(_ item: Item?) {
    guard let item, let rule = item.kind.rules.state.biometry, let other = rule.until(item.attributes) else {
      self = .vault
      return
    }
    self = .item(item.id, until: other, lock: rule.lock)
  }

  fileprivate var lock: VaultError {
    switch self {
    case .vault:
      VaultError(
        .biometryLocked,
        "biometry is locked: after \(BiometryLockout.limit) failures, or because the file was copied or restored",
        hint: "unlock the vault with the passcode: that ends it", attemptsLeft: 0)
    case .item(_, _, let lock): lock()
    }
  }
}

extension ItemState {
  /// The failures that still count: a use of the other item since then has ended the others.
  package func biometryFailures(uses: UInt64) -> UInt32 { counter == uses ? failures : 0 }
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
  /// Throws if biometry is locked, before any prompt. While that of the vault is locked, that of an item is too.
  ///
  /// - Returns: How many attempts are left.
  @discardableResult
  func refuseLockedBiometry(_ count: BiometryCount) throws(VaultError) -> Int {
    if case .item = count { try refuseLockedBiometry(.vault) } else { try markIfCopied() }
    let left = try attemptsLeft(count)
    guard left > 0 else { throw count.lock }
    return left
  }

  /// Throws if biometry is locked for an item, as ``refuseLockedBiometry(_:)``.
  package func refuseLockedBiometry(of item: Item) throws(VaultError) {
    try refuseLockedBiometry(BiometryCount(item))
  }

  /// How many more failures lock biometry for an item; 0 if it is locked.
  package func biometryAttemptsLeft(of item: Item) throws(VaultError) -> Int {
    try attemptsLeft(BiometryCount(item))
  }

  private func attemptsLeft(_ count: BiometryCount) throws(VaultError) -> Int {
    var transaction = try beginReading()
    let failures: UInt32
    if case .item(let id, let other, _) = count {
      failures = try transaction.state(of: id).biometryFailures(
        uses: transaction.state(of: other).uses)
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
    if case .item(let id, let other, _) = count {
      let uses = try transaction.state(of: other).uses
      isAllowed = try transaction.changeState(of: id) { state in
        var failures = state.biometryFailures(uses: uses)
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
