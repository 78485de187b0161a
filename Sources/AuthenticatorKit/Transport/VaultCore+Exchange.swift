import VaultKit
import VaultLogging

/// One request and its answer.
extension VaultCore {
  /// Sends a request about a credential, and returns the members of the answer. The caller holds no transaction, and commits
  /// nothing before this returns that only the answer permits.
  ///
  /// An error that says something about the state of the credential changes it, as a synchronization does.
  ///
  /// - Parameter fields: The members of the operation, added to those of the credential.
  /// - Throws: What the transport throws; ``VaultError/Code/appCancelled`` if the answer is no longer wanted.
  func exchange(
    _ operation: TransportOperation, about credential: PeerCredential, _ fields: TransportFields = .init(),
    over transport: any Transport, context: AuthenticationContext?
  ) throws(VaultError) -> TransportFields {
    var all = credential.fields
    for (name, value) in fields.all { all[name] = value }
    do throws(VaultError) { return try exchange(operation, all, over: transport, context: context) } catch {
      throw noted(error, of: operation, fields, about: credential)
    }
  }

  /// Stores what an error of a peer says about the state of a credential, and says what ends it. Where it cannot be stored, the peer says
  /// it again.
  private func noted(
    _ error: VaultError, of operation: TransportOperation, _ fields: TransportFields,
    about credential: PeerCredential
  ) -> VaultError {
    if error.code == .deviceUnknown { return error.advising(error.advice ?? .disableCredential) }
    guard let event = CredentialEvent(error, of: operation, fields) else { return error }
    try? note(event, of: credential)
    return error.advising(error.advice ?? (event == .peerBlocks ? .unlockCredential : .activateCredential))
  }

  private func note(_ event: CredentialEvent, of credential: PeerCredential) throws(VaultError) {
    var transaction = try beginWriting()
    try transaction.change(transaction.reading.present(credential), by: event)
    try transaction.commit()
  }

  /// Sends a request, as ``exchange(_:about:_:over:context:)``.
  func exchange(
    _ operation: TransportOperation, _ fields: TransportFields, over transport: any Transport,
    context: AuthenticationContext?
  ) throws(VaultError) -> TransportFields {
    let id = DeviceID(try environment.random.newBytes(16))!
    var request = TransportRequest(operation, id: id.hexadecimal, fields: fields)
    VaultLog.debug(.authHTTP, "\(operation) goes to \(address: transport.identity)")
    do throws(VaultError) {
      let answer = try waiting(context: context, cancel: transport.cancel) { ending throws(VaultError) in
        request.ending = ending
        return try transport.send(request).fields
      }
      VaultLog.info(.authHTTP, "\(operation) was answered")
      return answer
    } catch {
      VaultLog.warning(.authHTTP, "\(operation) failed: \(error.code)")
      throw error
    }
  }

  /// Asks for the passcode if the credential was activated through another transport, and makes this one its transport.
  ///
  /// - Throws: ``VaultError/Code/policy`` in a vault without a passcode; what the verification of the passcode throws.
  func permit(
    _ transport: any Transport, for credential: PeerCredential, context: AuthenticationContext?
  ) throws(VaultError) -> PeerCredential {
    guard credential.transport != transport.identity else { return credential }
    guard hasPasscode else {
      throw VaultError(
        .policy, "the credential was activated through another transport",
        hint: "name that one, or activate the credential again: without a passcode, nothing else can allow it"
      )
    }
    let notes = try verifyPasscode(for: credential.item, context: context)
    var changes = ItemChanges()
    changes.attributes[.transport] = transport.identity
    var transaction = try beginWriting(.free, context: context)
    try transaction.log(notes)
    let item = try transaction.update(credential.item.id, changes, secret: nil, by: .otp)
    try transaction.commit()
    return try PeerCredential(item)
  }
}

extension CredentialEvent {
  /// What an error says about the state of the credential that a request is about (`docs/guides/transport.md`, *Errors*). `STATE` says
  /// that it is disabled only where the request names nothing else that could be over.
  fileprivate init?(_ error: VaultError, of operation: TransportOperation, _ fields: TransportFields) {
    let namesNothing = fields["alias"] == nil && fields["after"] == nil
    switch error.code {
    case .blocked: self = .peerBlocks
    case .wrongState where Self.concernCredential.contains(operation) && namesNothing: self = .peerDisables
    default: return nil
    }
  }

  private static let concernCredential: Set<TransportOperation> = [
    .synchronize, .onlineStart, .transactionNext, .login,
  ]
}
