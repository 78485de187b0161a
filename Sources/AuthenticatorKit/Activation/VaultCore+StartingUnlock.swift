package import VaultKit

/// The first step of an unlock: the peer sends the person a code.
extension VaultCore {
  /// Asks the peer for an unlock of a credential that is blocked, or whose PIN is.
  package func startUnlock(
    of id: ItemID, over transport: any Transport, context: AuthenticationContext? = nil
  ) throws(VaultError) {
    try environment.clock.refuseWithoutBoot()
    let item = try unlockable(id)
    let peer = try permit(transport, for: PeerCredential(item), context: context)
    let answer = try exchange(.unlockStart, about: peer, over: transport, context: context)
    let unlock = try StartedUnlock(answer)
    let pin = try item.guardingPIN()
    guard unlock.pinMode == 1 || pin?.mode == .checked else {
      throw .peerAnswered("'pinMode' asks for a new PIN, and no checked PIN guards the credential")
    }
    var transaction = try beginWriting(.free, context: context)
    try transaction.begin(unlock, of: transaction.item(id))
    try transaction.commit()
  }

  /// - Throws: ``VaultError/Code/wrongState`` unless an unlock of the credential can begin.
  private func unlockable(_ id: ItemID) throws(VaultError) -> Item {
    var transaction = try beginReading()
    let item = try transaction.item(id)
    transaction.end()
    guard item.kind == .otp else { throw .noCredential }
    try refuseLapsed(item)
    var present = try beginReading()
    let state = try present.effectiveState(of: item)
    present.end()
    guard state.after(.unlockStarted) != nil else { throw .notBlocked(state) }
    return item
  }
}

/// The answer to `unlockStart`, checked.
private struct StartedUnlock {
  let name: String
  let seconds: UInt64
  let pinMode: Int64

  init(_ answer: TransportFields) throws(VaultError) {
    name = try TransportFields.required("unlock", answer.text("unlock", 1...64))
    seconds = try answer.lifeSeconds(300)
    pinMode = Int64(try answer.number("pinMode", 1...2) ?? 1)
  }
}

extension ItemState {
  /// How many wrong codes refuse an unlock for good.
  static let unlockCodeLimit: UInt8 = 5
  /// In place of a count of wrong codes: no code of this unlock counts any more.
  static let endedUnlock = UInt8.max
}

extension WriteTransaction {
  fileprivate mutating func begin(_ unlock: StartedUnlock, of item: Item) throws(VaultError) {
    let isSame = item.attributes[.unlock] == unlock.name
    let effective = try reading.effectiveState(of: item)
    let clock = reading.clock
    var held = try heldState(of: item.id)
    guard !isSame || held.state.wrongUnlockCodes < ItemState.unlockCodeLimit else {
      throw held.state.wrongUnlockCodes == ItemState.endedUnlock ? .unlockOfEarlierBlock : .unlockRefused
    }
    // A credential whose PIN is blocked counts as blocked.
    held.state.set(effective)
    try held.state.apply(.unlockStarted)
    if !isSame { held.state.wrongUnlockCodes = 0 }
    held.state.deadline = try Deadline(seconds: unlock.seconds, clock: clock)
    try keep(held)
    var changes = ItemChanges()
    changes.attributes[.unlock] = unlock.name
    changes.attributes[.unlockPINMode] = unlock.pinMode
    let changed = try update(item.id, changes, secret: nil, by: .otp)
    try log(.unlockStarted, item: changed)
  }
}

extension VaultError {
  static var unlockRefused: VaultError {
    VaultError(
      .blocked, "too many wrong codes: this unlock is refused for good",
      hint: "have the server begin another unlock, under another name", attemptsLeft: 0)
  }

  fileprivate static var unlockOfEarlierBlock: VaultError {
    VaultError(
      .blocked, "this unlock was begun before the present block",
      hint: "have the server begin another unlock, under another name", attemptsLeft: 0)
  }

  static func notBlocked(_ state: CredentialState) -> VaultError {
    switch state {
    case .started: .activationIncomplete
    case .disabled:
      VaultError(.wrongState, "the server has disabled the credential", hint: .activateCredential)
    default: VaultError(.wrongState, "the credential is not blocked")
    }
  }
}
