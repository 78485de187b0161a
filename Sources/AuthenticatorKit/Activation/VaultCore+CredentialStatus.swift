package import VaultKit

/// The status of a credential, and its end by the person.
extension VaultCore {
  /// The status of the credential of this name, or of its activation.
  package func credentialStatus(named name: String) throws(VaultError) -> CredentialStatus {
    try credentialStatus(item(named: name))
  }

  package func credentialStatus(of id: ItemID) throws(VaultError) -> CredentialStatus {
    var transaction = try beginReading()
    let item = try transaction.item(id)
    transaction.end()
    return try credentialStatus(item)
  }

  private func credentialStatus(_ item: Item) throws(VaultError) -> CredentialStatus {
    guard item.kind == .otp else { throw .noCredential }
    try refuseLapsed(item)
    let replacement = try replacement(of: item)
    var transaction = try beginReading()
    var isPINBlocked = false
    if let pin = item.policy.guardingPINItem { isPINBlocked = try transaction.state(of: pin).isBlocked }
    return CredentialStatus(
      item, state: try transaction.effectiveState(of: item), isPINBlocked: isPINBlocked,
      secondsLeft: try transaction.state(of: (replacement ?? item).id).secondsLeft(transaction.clock),
      isBeingReplaced: replacement != nil)
  }

  /// The activation that will replace a disabled credential.
  ///
  /// - Throws: ``VaultError/Code/expired`` if its time is over: then it no longer exists.
  private func replacement(of item: Item) throws(VaultError) -> Item? {
    var transaction = try beginReading()
    let found =
      try transaction.state(of: item.id).credentialState() == .disabled
      ? try transaction.activation(replacing: item.id) : nil
    transaction.end()
    if let found { try refuseLapsed(found) }
    return found
  }

  /// The item of the activation that is under way for a credential.
  ///
  /// - Throws: ``VaultError/Code/wrongState`` if there is none; ``VaultError/Code/authenticationFailed`` if it is finished.
  package func activationUnderWay(of id: ItemID) throws(VaultError) -> Item {
    var transaction = try beginReading()
    let item = try transaction.item(id)
    if item.isActivation { return item }
    guard let pending = try transaction.activation(replacing: id) else {
      throw try transaction.nothingToFinish(of: item)
    }
    return pending
  }

  /// Asks the peer to end the use of a credential here, and disables it after the peer agreed.
  package func disableCredential(
    _ id: ItemID, evenIfUnknown: Bool = false, over transport: any Transport,
    context: AuthenticationContext? = nil
  ) throws(VaultError) {
    var transaction = try beginReading()
    let item = try transaction.item(id)
    guard item.kind == .otp else { throw .noCredential }
    // Refused before the peer is asked; the commit below applies the same event.
    var state = try transaction.state(of: id)
    guard !item.isActivation else { throw .activationIncomplete }
    _ = try PeerCredential(item)
    try state.apply(.peerDisables)
    transaction.end()
    let peer = try permit(transport, for: PeerCredential(item), context: context)
    do throws(VaultError) { _ = try exchange(.disable, about: peer, over: transport, context: context) } catch
    {
      guard error.code == .deviceUnknown, evenIfUnknown else { throw error }
    }
    var change = try beginWriting(.free, context: context)
    let device = try change.reading.deviceCredential(of: item)
    for item in [item, device].compactMap({ $0 }) { try change.disable(item) }
    try change.commit()
  }
}

extension WriteTransaction {
  /// The peer has disabled a credential.
  fileprivate mutating func disable(_ item: Item) throws(VaultError) {
    var held = try heldState(of: item.id)
    try held.state.apply(.peerDisables)
    held.state.deadline = nil
    try keep(held)
    try log(.stateChanged, item: item, detail: "disabled")
  }
}
