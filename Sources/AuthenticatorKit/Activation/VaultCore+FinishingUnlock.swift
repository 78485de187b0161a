package import SecretMemory
package import VaultKit

/// The second step of an unlock: the peer judges the code, the vault the PIN, or a new PIN is set.
extension VaultCore {
  /// Finishes the unlock of a credential.
  ///
  /// The PIN is asked for first, so cancelling its prompt uses no code. One that is not blocked is judged before the code is sent;
  /// for a blocked one, the code permits one attempt. A code is counted on disk before the peer is asked, so a process that is
  /// killed does not get another attempt; only a request that surely did not reach the peer takes the count back.
  package func finishUnlock(
    of id: ItemID, code: SharedSecret, over transport: any Transport, context: AuthenticationContext? = nil
  ) throws(VaultError) {
    let code = try PeerCode.read(code)
    let context = context?.witnessingPasscode()
    let unlock = try unlockUnderWay(of: id)
    let peer = try permit(transport, for: PeerCredential(unlock.item), context: context)
    let stored = try storedPIN(of: unlock, context: context)
    let newPIN = try unlock.needsNewPIN ? newPIN(for: unlock, stored, context: context) : nil
    let blockedPIN = try unlock.needsNewPIN ? nil : currentPIN(stored, context: context)
    // The person may have taken long to type.
    _ = try unlockUnderWay(of: id)
    let left = try countCode(of: unlock)
    var fields = TransportFields()
    fields["unlock"] = .text(unlock.name)
    fields["codeBase64"] = .secret(TransportSecret(code))
    let answer: TransportFields
    do throws(VaultError) {
      answer = try exchange(.unlockFinish, about: peer, fields, over: transport, context: context)
    } catch {
      guard error.code == .authenticationFailed else {
        // A count that cannot be taken back remains.
        if error.isUnsent { try? uncountCode(of: unlock) }
        guard error.code == .wrongState else { throw error }
        // The unlock that is named is over there: the same call would name it again.
        throw error.advising(
          error.advice ?? .beginUnlock)
      }
      throw try refusedCode(of: unlock, error, left: left)
    }
    if let newPIN, let stored {
      return try setNewPIN(newPIN, for: unlock, stored, by: answer, context: context)
    }
    var transaction = try beginWriting(.free, context: context)
    try transaction.end(unlock)
    // A PIN that was right keeps its attempts, and a block that it got meanwhile.
    if let blockedPIN { try transaction.permitOneAttempt(blockedPIN.stored.id) }
    try transaction.commit()
    guard let blockedPIN else { return }
    // One attempt is left: a right PIN gives all of them back, a wrong one blocks again.
    let stillStored = try usablePIN(blockedPIN.stored.id, context: context)
    let shown = try judgedPIN(stillStored, blockedPIN.digits, blockedPIN.shown, context: context)
    try commitVerdict(on: shown, context: context)
  }

  /// - Returns: A PIN that can be judged only when the code has ended its block; `nil` if it was right, and without a checked PIN.
  private func currentPIN(
    _ stored: StoredPIN?, context: AuthenticationContext?
  ) throws(VaultError) -> (stored: StoredPIN, digits: SharedSecret, shown: Shown)? {
    guard let stored else { return nil }
    guard stored.state.isBlocked else {
      _ = try verifyPIN(stored.id, context: context)
      return nil
    }
    var request = stored.request("end the block")
    request.attemptsLeft = 1
    return try askingPIN(request, context: context) { (pin, shown) throws(VaultError) in
      (stored, SharedSecret(pin.bytes.copy()), shown)
    }
  }

  private func unlockUnderWay(of id: ItemID) throws(VaultError) -> UnlockUnderWay {
    var transaction = try beginReading()
    let item = try transaction.item(id)
    transaction.end()
    guard item.kind == .otp else { throw .noCredential }
    try refuseLapsed(item)
    var present = try beginReading()
    return try UnlockUnderWay(item, in: &present)
  }

  /// The checked PIN that guards the credential.
  private func storedPIN(
    of unlock: UnlockUnderWay, context: AuthenticationContext?
  ) throws(VaultError) -> StoredPIN? {
    guard let pin = unlock.pin, pin.mode == .checked else { return nil }
    return try storedPIN(pin.item, isUnlocking: true, context: context)
  }

  /// - Returns: How many codes are left, if this one is wrong.
  private func countCode(of unlock: UnlockUnderWay) throws(VaultError) -> Int {
    var transaction = try beginWriting()
    try transaction.refuseUnlessUnderWay(unlock)
    var held = try transaction.heldState(of: unlock.item.id)
    let isOver = held.state.wrongUnlockCodes >= ItemState.unlockCodeLimit
    if isOver {
      try held.state.apply(.lastWrongUnlockCode)
      held.state.deadline = nil
    } else {
      held.state.wrongUnlockCodes += 1
    }
    try transaction.keep(held)
    try transaction.commit()
    guard !isOver else { throw .unlockRefused }
    return Int(ItemState.unlockCodeLimit - held.state.wrongUnlockCodes)
  }

  /// The peer has not seen the code. The time of the unlock may be over.
  private func uncountCode(of unlock: UnlockUnderWay) throws(VaultError) {
    var transaction = try beginWriting()
    if try transaction.awaitsAnswer(unlock) {
      try transaction.changeState(of: unlock.item.id) { state in
        state.wrongUnlockCodes -= state.wrongUnlockCodes > 0 ? 1 : 0
      }
    }
    try transaction.commit()
  }

  /// The peer has refused the code.
  private func refusedCode(
    of unlock: UnlockUnderWay, _ error: VaultError, left: Int
  ) throws(VaultError) -> VaultError {
    var transaction = try beginWriting()
    // Another process may have ended this unlock meanwhile.
    if try transaction.isUnderWay(unlock) {
      var held = try transaction.heldState(of: unlock.item.id)
      let isLast = held.state.wrongUnlockCodes >= ItemState.unlockCodeLimit
      try held.state.apply(isLast ? .lastWrongUnlockCode : .wrongUnlockCode)
      if isLast { held.state.deadline = nil }
      try transaction.keep(held)
      try transaction.log(
        .unlockStarted, item: unlock.item, result: error.auditResult, detail: "wrong code")
    }
    try transaction.commit()
    guard left > 0 else { return .unlockRefused }
    return VaultError(
      .authenticationFailed, error.message, hint: error.advice,
      attemptsLeft: min(left, error.attemptsLeft ?? left))
  }
}

/// An unlock that the peer has begun.
struct UnlockUnderWay {
  let item: Item
  /// The name that the peer gave.
  let name: String
  let needsNewPIN: Bool
  let pin: GuardingPIN?

  /// - Throws: ``VaultError/Code/wrongState``, ``VaultError/Code/blocked`` if no unlock is under way.
  init(_ item: Item, in transaction: inout ReadTransaction) throws(VaultError) {
    let state = try transaction.effectiveState(of: item)
    guard state == .unlockStarted, let name = item.attributes[.unlock] else {
      guard state == .blocked else { throw .notBlocked(state) }
      let isRefused =
        try transaction.state(of: item.id).wrongUnlockCodes >= ItemState.unlockCodeLimit
        && item.attributes[.unlock] != nil
      throw isRefused
        ? .unlockRefused
        : VaultError(.wrongState, "no unlock of the credential is under way", hint: .unlockCredential)
    }
    (self.item, self.name) = (item, name)
    needsNewPIN = item.attributes[.unlockPINMode] == 2
    pin = try item.guardingPIN()
  }
}

extension WriteTransaction {
  /// Whether this very unlock is still under way.
  mutating func isUnderWay(_ unlock: UnlockUnderWay) throws(VaultError) -> Bool {
    guard try isTheLast(unlock) else { return false }
    return try state(of: unlock.item.id).credentialState() == .unlockStarted
  }

  /// Whether a code of this very unlock may be on its way: also after its time, after it was refused for good, or after a
  /// synchronization said that the credential is active, which somebody may have recorded meanwhile. Each code was counted before it
  /// was sent, so no sixth one is; without a count, the unlock has ended, and with another one, the block is newer.
  mutating func awaitsAnswer(_ unlock: UnlockUnderWay) throws(VaultError) -> Bool {
    let state = try state(of: unlock.item.id)
    guard try isTheLast(unlock), 1...ItemState.unlockCodeLimit ~= state.wrongUnlockCodes else { return false }
    return try [.unlockStarted, .blocked, .active].contains(state.credentialState())
  }

  /// Whether the peer has begun no other unlock.
  private mutating func isTheLast(_ unlock: UnlockUnderWay) throws(VaultError) -> Bool {
    try item(unlock.item.id).attributes[.unlock] == unlock.name
  }

  /// - Throws: ``VaultError/Code/busy``.
  mutating func refuseUnlessUnderWay(_ unlock: UnlockUnderWay) throws(VaultError) {
    guard try isUnderWay(unlock) else { throw .unlockEnded }
  }

  /// Makes the credential and its device credential active. Another one behind the same PIN that has a block of its own, from
  /// its server or from an unlock that was begun, needs a code of its own.
  mutating func end(_ unlock: UnlockUnderWay) throws(VaultError) {
    guard try awaitsAnswer(unlock) else { throw .unlockEnded }
    try changeState(of: unlock.item.id) { $0.wrongUnlockCodes = 0 }
    for item in try [unlock.item, reading.deviceCredential(of: unlock.item)].compactMap({ $0 }) {
      guard try [.blocked, .unlockStarted].contains(state(of: item.id).credentialState()) else { continue }
      var held = try heldState(of: item.id)
      // The device credential shares the block, and has no code.
      held.state.set(CredentialState.unlockStarted)
      try held.state.apply(.unlocked)
      held.state.deadline = nil
      try keep(held)
      try log(.stateChanged, item: item, detail: "unlocked")
    }
  }

  /// Ends the block of a PIN, so that one attempt is left.
  fileprivate mutating func permitOneAttempt(_ pin: ItemID) throws(VaultError) {
    let item = try item(pin)
    let limit = item.pinLimit
    guard try state(of: pin).isBlocked else { return }
    try changeState(of: pin) { state in
      state.isBlocked = false
      state.attemptsUnderWay = 0
      state.failures = limit - 1
    }
    try log(.stateChanged, item: item, detail: "one attempt left")
  }
}

extension VaultError {
  fileprivate static var unlockEnded: VaultError {
    VaultError(.busy, "another process has ended this unlock meanwhile", hint: "look at the status")
  }
}
