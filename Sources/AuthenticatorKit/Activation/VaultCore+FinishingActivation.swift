package import SecretMemory
package import VaultKit

/// The second step of an activation.
extension VaultCore {
  /// Finishes an activation: the PIN is judged or typed twice, then the peer judges the second code and gives the secrets,
  /// which are stored behind the PIN in one commit.
  ///
  /// - Parameters:
  ///   - code: The second code, as the person typed it.
  ///   - pin: The PIN item that is to guard the credential. A new one is made in the same commit.
  ///   - unlockKey: The unlock key of that item, if it was made for this activation; a peer that keeps such keys gets it.
  package func finishActivation(
    named name: String, code: SharedSecret, pin: ChosenPIN? = nil, unlockKey: PINUnlockKey? = nil,
    over transport: any Transport, context: AuthenticationContext? = nil
  ) throws(VaultError) -> ActivatedCredential {
    let code = try PeerCode.read(code)
    let context = context?.witnessingPasscode()
    var found = try activation(named: name)
    let peer = try permit(transport, for: found.peer, context: context)
    let (secret, prepared) = try preparing(found, behind: pin, context: context)
    var shown = prepared
    // The person may have taken long to type.
    try refuseLapsed(found.item)
    var fields = TransportFields()
    fields["secretBase64"] = .secret(TransportSecret(secret))
    fields["codeBase64"] = .secret(TransportSecret(code))
    if let unlockKey, found.wantsUnlockKey {
      fields["unlockKeyBase64"] = .secret(TransportSecret(unlockKey.bytes))
      found.givesUnlockKey = true
    }
    let answer: TransportFields
    do throws(VaultError) {
      answer = try exchange(.activationFinish, about: peer, fields, over: transport, context: context)
    } catch {
      guard error.code == .authenticationFailed || error.code == .expired else { throw error }
      throw try endedActivation(found.item, error)
    }
    let finished = try FinishedActivation(answer, after: secret, now: environment.clock.now())
    if let shown, shown.isMasking {
      try finished.credential.attributes.refuseMasking(finished.credential.secret.bytes)
    }
    let use = Use.add(NewItem(.otp, access: found.item.access), by: .otp)
    if shown?.mustBeMadeFirst == true {
      var transaction = try beginWriting(use, context: context)
      try shown?.makeFirst(in: &transaction)
      try transaction.commit()
    }
    var transaction = try beginWriting(use, context: context)
    let result = try transaction.finish(found, with: finished, transport: transport.identity, behind: shown)
    try transaction.commit()
    return result
  }

  /// The activation under way of a credential of this name.
  private func activation(named name: String) throws(VaultError) -> PendingActivation {
    let item = try item(named: name)
    guard item.kind == .otp else { throw .noCredential }
    let found = try pendingActivation(of: item, named: name)
    let name = found.name
    try refuseLapsed(found.item)
    // It may have been renamed meanwhile.
    try NewActivation(name).check()
    var transaction = try beginReading()
    var own = [found.replaced?.id].compactMap { $0 }
    if let replaced = found.replaced, let device = try transaction.deviceCredential(of: replaced) {
      own.append(device.id)
    }
    try transaction.refuseTaken(NewActivation.deviceName(of: name), unless: own)
    transaction.end()
    return found
  }

  private func pendingActivation(of item: Item, named name: String) throws(VaultError) -> PendingActivation {
    var transaction = try beginReading()
    guard item.isActivation else {
      guard let pending = try transaction.activation(replacing: item.id) else {
        throw try transaction.nothingToFinish(of: item)
      }
      return try PendingActivation(pending, named: name, replacing: item)
    }
    let replaced = try transaction.credential(replacedBy: item)
    return try PendingActivation(item, named: replaced?.name ?? name, replacing: replaced)
  }

  /// The activation secret, and the PIN that is to guard the credential. All that needs no peer is refused here.
  private func preparing(
    _ found: PendingActivation, behind pin: ChosenPIN?, context: AuthenticationContext?
  ) throws(VaultError) -> (SharedSecret, EnrollingPIN?) {
    var transaction = try beginReading(.secret(.use, of: found.item.id, by: .otp), context: context)
    let secret = SharedSecret(try transaction.useSecret(of: found.item, by: .otp).intoSecret())
    transaction.end()
    var new = NewItem(.otp, name: found.name, access: found.item.access)
    new.id = found.credential
    guard let pin else {
      guard found.peer.mode.isEmpty else {
        throw VaultError(.policy, "the server wants a PIN for the credential", hint: .guardWithPIN)
      }
      return (secret, nil)
    }
    guard !found.peer.mode.isEmpty else {
      throw VaultError(
        .policy, "the server makes a credential that no PIN guards", hint: "finish the activation without one"
      )
    }
    switch pin {
    case .stored(let id):
      let stored = try usablePIN(id, context: context)
      try found.refuse(stored.mode)
      return (secret, try enrollingPIN(stored, for: new, context: context))
    case .new(let made):
      try found.refuse(made.mode)
      return (secret, try enrollingPIN(making: made, for: new, context: context))
    }
  }

  /// The peer has refused the second code, or no longer waits for it: deletes the activation.
  ///
  /// - Returns: The error of the peer, with what follows from it here.
  private func endedActivation(_ item: Item, _ error: VaultError) throws(VaultError) -> VaultError {
    var transaction = try beginWriting()
    if try !transaction.items(matching: Query(id: item.id)).isEmpty {
      try transaction.endActivation(
        item, result: error.auditResult,
        detail: error.code == .expired ? "its time was over" : "the server refused the code")
    }
    try transaction.commit()
    return VaultError(
      error.code, "\(error.message); the activation was deleted",
      hint: error.advice ?? .activateCredential)
  }
}

/// An activation under way.
private struct PendingActivation {
  private(set) var item: Item
  /// The name that the credential will have.
  private(set) var name: String
  /// The disabled credential that it replaces.
  let replaced: Item?
  let peer: PeerCredential
  /// Whether the peer got the unlock key of the PIN.
  var givesUnlockKey = false

  init(_ item: Item, named name: String, replacing replaced: Item? = nil) throws(VaultError) {
    (self.item, self.name, self.replaced) = (item, name, replaced)
    peer = try PeerCredential(item)
  }

  /// - Throws: ``VaultError/Code/policy`` for a PIN with which no code could be made.
  func refuse(_ pinMode: PINMode) throws(VaultError) {
    guard pinMode == .checked || peer.mode.ofCodes.contains(.current) else {
      throw VaultError(
        .policy, "the server wants codes by biokey only, and a camouflaged PIN has no biokey",
        hint: "use a checked PIN")
    }
  }

  /// Takes over what was said about it meanwhile. The peer has accepted the code, so a name with which the credential could not be
  /// stored is not taken over.
  mutating func update(_ present: Item, in transaction: inout ReadTransaction) {
    item = present
    guard replaced == nil, let new = present.name, (try? NewActivation(new).check()) != nil,
      (try? transaction.refuseTaken(NewActivation.deviceName(of: new), unless: [])) != nil
    else { return }
    name = new
  }

  /// The identifier that the credential will have.
  var credential: ItemID? { item.attributes[.activated].flatMap(ItemID.init) }

  var wantsUnlockKey: Bool { item.attributes[.keepsUnlockKey] ?? false }

  /// The credential that the person uses.
  func user(_ finished: FinishedActivation, _ transport: String, now: Instant) -> NewItem {
    var described = item.lastingAttributes
    described[.transport] = transport
    // Of an activation, the credential that it replaces.
    described[.credential] = nil
    if givesUnlockKey { described[.keepsUnlockKey] = true }
    finished.limits.write(to: &described)
    var new = finished.credential.item(
      named: name, described: described, access: item.access, now: now)
    (new.id, new.audit, new.expires) = (credential, item.audit, item.expires)
    new.state.secondsOffset = finished.secondsOffset
    return new
  }

  /// The credential of this device, which needs no PIN. The peer is asked about the other one alone, so this one does not have
  /// its name.
  func device(_ finished: FinishedActivation, _ transport: String, now: Instant) -> NewItem? {
    guard let device = finished.device else { return nil }
    let old = item.attributes
    var described = Attributes()
    for attribute in [Attribute<String>.service, .account, .issuer] { described[attribute] = old[attribute] }
    described[.transport] = transport
    described[.device] = old[.device]
    described[.peerPINMode] = 0
    let access = AccessControl(item.access.accessibility, thisDeviceOnly: true)
    var new = device.item(
      named: NewActivation.deviceName(of: name), described: described, access: access, now: now)
    new.state.secondsOffset = finished.secondsOffset
    return new
  }
}

extension WriteTransaction {
  /// Deletes the activation and the credential that it replaces, and adds the new ones.
  ///
  /// The peer has accepted the code. Another process may have ended the activation meanwhile, because the peer refused
  /// the same code there as used: the credential is added all the same.
  fileprivate mutating func finish(
    _ found: PendingActivation, with finished: FinishedActivation, transport: String,
    behind pin: EnrollingPIN?
  ) throws(VaultError) -> ActivatedCredential {
    try pin?.prepare(in: &self)
    var found = found
    if let present = try items(matching: Query(id: found.item.id)).first {
      found.update(present, in: &reading)
      try destroy(present.id)
    }
    if let replaced = found.replaced { try remove(replaced) }
    let now = reading.expiryTime
    var user = found.user(finished, transport, now: now)
    var device: Item?
    if let new = found.device(finished, transport, now: now), let secret = finished.device?.secret {
      let added = try add(new, secret: secret.bytes.copy(), by: .otp)
      user.attributes[.credential] = added.id.bytes
      device = added
    }
    if let pin { try log(pin.notes) }
    let secret = finished.credential.secret
    let item =
      if let pin {
        try add(pin.guarding(user), secret: pin.data(secret.bytes), by: pin.component)
      } else {
        try add(user, secret: secret.bytes.copy(), by: .otp)
      }
    try log(.activated, item: item)
    return ActivatedCredential(
      credential: item.id, type: finished.credential.type, deviceCredential: device?.id)
  }

  /// Deletes a disabled credential that is replaced.
  private mutating func remove(_ replaced: Item) throws(VaultError) {
    guard try state(of: replaced.id).credentialState() == .disabled else { throw .nameChanged }
    if let device = try reading.deviceCredential(of: replaced) { try destroy(device.id) }
    try destroy(replaced.id)
  }
}

extension ReadTransaction {
  /// Why a credential has no activation to finish: the second code of an active one was used for that.
  mutating func nothingToFinish(of item: Item) throws(VaultError) -> VaultError {
    let hint = Hint.showCredentialStatus
    let isDisabled = try state(of: item.id).credentialState() == .disabled
    return item.hasServer && !isDisabled
      ? VaultError(.authenticationFailed, "the activation is finished, and its code was used", hint: hint)
      : VaultError(.wrongState, "no activation of the credential is under way", hint: hint)
  }
}
