package import VaultKit

/// Synchronization on the synchronous core: `OTPCredential+Online.swift` offers the same on the actor.
///
/// Read in this order: ``OfflineLimits`` and ``OfflineCodes``, which say when a synchronization is due; this file;
/// ``PeerPosition``, which checks and applies what the peer answers; `VaultCore+OnlineCodes.swift`, where the peer gets the
/// code itself.
extension VaultCore {
  /// Brings counter, clock and state in step with the peer: one request, then one commit.
  ///
  /// Asks for the PIN where the peer wants the current one and the credential is not blocked or disabled. A code is made
  /// for the request where one can be made; its counter is on disk before it is sent.
  ///
  /// - Throws: As ``OTPCredential/synchronize(over:context:)``.
  package func synchronize(
    _ id: ItemID, over transport: any Transport, context: AuthenticationContext? = nil
  ) throws(VaultError) -> ServerSynchronization {
    var transaction = try beginReading()
    let prover = try transaction.peerProver(id)
    transaction.end()
    let credential = try permit(transport, for: prover, context: context)
    // Their codes are older than the one that is made now.
    let notices = try tellDecisions(of: credential, over: transport, context: context)
    let code = try synchronizationCode(of: credential, context: context)
    let request = SynchronizationRequest(credential.item, state: try state(of: id), code: code)
    let answer = try exchange(
      .synchronize, about: credential, request.fields, over: transport, context: context)
    let event = try CredentialEvent(answer)
    let position = try PeerPosition(answer, at: environment.clock.now())
    let (item, state) = try store(position, event, of: credential, told: request.told, context: context)
    try state.refuseUnlessActive()
    if let pin = try item.guardingPIN() {
      var transaction = try beginReading()
      let isBlocked = try transaction.state(of: pin.item).isBlocked
      transaction.end()
      guard !isBlocked else { throw VaultError.pinBlocked.advising(.unlockCredential) }
    }
    let limits = OfflineLimits(item)
    return ServerSynchronization(
      counter: item.countsCodes ? state.counter : nil, clockOffset: Int(state.secondsOffset),
      offlineCodes: limits.codes, offlineSeconds: limits.seconds, notices: notices)
  }

  /// Asks for the PIN where the peer wants it, and makes a code where one can be made.
  ///
  /// - Returns: `nil` without a code: there is no PIN, a suite needs a question, or the counter may be behind.
  private func synchronizationCode(
    of credential: PeerCredential, context: AuthenticationContext?
  ) throws(VaultError) -> String? {
    let item = credential.item
    guard let pin = try item.guardingPIN(), credential.mode.ofCodes.contains(.current) else { return nil }
    // In a copy, no code is made: its counter may be behind.
    try markIfCopied()
    var transaction = try beginReading()
    let (state, isBlocked) = (
      try transaction.state(of: item.id), try transaction.state(of: pin.item).isBlocked
    )
    transaction.end()
    guard try state.credentialState() == .active, !isBlocked else { return nil }
    guard !item.hasSuite, !item.countsCodes || !state.needsResync && !state.isBlocked else {
      if pin.mode == .checked { _ = try verifyPIN(pin.item, context: context) }
      return nil
    }
    return try nextCode(of: item, by: .current, for: CodePurpose(isOnline: true), context: context).code
  }

  /// Commits what the peer said.
  ///
  /// - Parameters:
  ///   - event: What it said about the state; `nil` for nothing.
  ///   - told: The codes that it was told of.
  /// - Throws: ``VaultError/Code/network`` for a counter that is too far ahead, ``VaultError/Code/wrongState``; then
  ///   nothing is stored.
  @discardableResult
  func store(
    _ position: PeerPosition, _ event: CredentialEvent?, of credential: PeerCredential, told: ToldCodes,
    context: AuthenticationContext?
  ) throws(VaultError) -> (Item, ItemState) {
    let id = credential.item.id
    var changes = ItemChanges()
    position.limits.write(to: &changes.attributes)
    // The access rule guards the item. Its state follows the peer without a person.
    let use =
      position.limits.differ(from: credential.item)
      ? Use.update(id, changes, replacesSecret: false, by: .otp) : .free
    var transaction = try beginWriting(use, context: context) { (look) throws(VaultError) in
      _ = try look.present(credential)
    }
    var item = try transaction.reading.present(credential)
    if position.limits.differ(from: item) {
      item = try transaction.update(item.id, changes, secret: nil, by: .otp)
    }
    if let event { try transaction.change(item, by: event) }
    let now = transaction.reading.expiryTime
    var held = try transaction.heldState(of: item.id)
    try position.apply(to: &held.state, of: item, told: told, now: now)
    try transaction.keep(held)
    try transaction.log(.synchronized, item: item)
    try transaction.commit()
    return (item, held.state)
  }
}

/// The members of a request.
private struct SynchronizationRequest {
  var fields = TransportFields()
  let told: ToldCodes

  init(_ item: Item, state: ItemState, code: String?) {
    told = ToldCodes(state)
    if item.countsCodes { fields["counter"] = .number(state.counter) }
    fields["codes"] = .number(UInt64(told.count))
    if let code { fields["code"] = .text(code) }
  }
}

extension CredentialEvent {
  /// What a peer says about the state of a credential.
  ///
  /// - Throws: ``VaultError/Code/network`` for another word.
  fileprivate init(_ answer: TransportFields) throws(VaultError) {
    switch try TransportFields.required("state", answer.text("state", 1...64)) {
    case "active": self = .peerActivates
    case "blocked": self = .peerBlocks
    case "disabled": self = .peerDisables
    default: throw .peerAnswered("'state' is none of active, blocked, disabled")
    }
  }
}

extension ReadTransaction {
  /// A prover that a peer has activated, in whatever state but that of an activation.
  ///
  /// - Throws: ``VaultError/Code/policy`` for a verifier and without a peer; ``VaultError/Code/wrongState`` where no
  ///   activation was finished.
  mutating func peerProver(_ id: ItemID) throws(VaultError) -> PeerCredential {
    let credential = try PeerCredential(item(id))
    guard credential.item.isActivation || credential.item.attributes[.otpRole] == OTPRole.prover.rawValue
    else {
      throw VaultError(.policy, "the credential is a verifier: it has no server to be in step with")
    }
    let state = try state(of: id)
    switch try state.credentialState() {
    case .none, .started:
      try state.refuseUnlessActive()
      throw VaultError(.wrongState, "the credential is not activated", hint: .activateCredential)
    default: return credential
    }
  }
}
