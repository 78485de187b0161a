import VaultKit

extension ReadTransaction {
  /// The item of a credential as it is now.
  ///
  /// - Throws: ``VaultError/Code/busy`` if it was activated again since the peer was asked.
  mutating func present(_ credential: PeerCredential) throws(VaultError) -> Item {
    let present = try PeerCredential(item(credential.item.id))
    guard present.device == credential.device, present.peer == credential.peer else {
      throw VaultError(.busy, "the credential was activated again meanwhile", hint: "try again")
    }
    return present.item
  }
}

extension WriteTransaction {
  /// Makes the transition of an event. The end of a credential is that of its device credential.
  ///
  /// - Throws: ``VaultError/Code/wrongState`` if the state refuses it.
  mutating func change(_ item: Item, by event: CredentialEvent) throws(VaultError) {
    let clock = reading.clock
    var held = try heldState(of: item.id)
    let before = try held.state.credentialState()
    // The first write that looks at an unlock whose time is over records that.
    let isOver = before == .unlockStarted && held.state.secondsLeft(clock) == 0
    guard let after = (isOver ? before.after(.lapsed) : before)?.after(event) else {
      throw VaultError(.wrongState, "the credential changed its state meanwhile", hint: "try again")
    }
    held.state.set(after)
    if after != .unlockStarted { held.state.deadline = nil }
    // An unlock before this block does not end it, neither by a code on its way nor by another one.
    if before == .active, after == .blocked, held.state.wrongUnlockCodes > 0 {
      held.state.wrongUnlockCodes = ItemState.endedUnlock
    }
    try keep(held)
    guard before != after else { return }
    try log(.stateChanged, item: item, detail: "\(before) to \(after)")
    if after == .disabled, let device = try reading.deviceCredential(of: item) {
      try change(device, by: event)
    }
  }
}
