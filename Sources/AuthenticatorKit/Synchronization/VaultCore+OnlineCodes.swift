package import VaultKit
import OneTimePassword

/// Codes and seals that the peer gets at once: it announces each, and waits for it so long. No limit of codes without a
/// synchronization is for them.
extension VaultCore {
  /// The next code of a HOTP, TOTP or Steam prover, which the peer has accepted.
  ///
  /// - Throws: As ``OTPCredential/onlineCode(over:context:)``.
  package func onlineCode(
    of id: ItemID, over transport: any Transport, context: AuthenticationContext? = nil
  ) throws(VaultError) -> OTPResult {
    let online = try begin(.code, with: id, over: transport, context: context)
    let credential = online.credential
    var result = try nextCode(
      of: credential.item, by: credential.mode.ofCodes, for: CodePurpose(isOnline: true), context: context)
    let made = CodeForPeer(code: result.code, counter: result.counter, notices: result.notices)
    result.notices = try finish(online, made, context: context)
    return result
  }

  /// The code of a credential with a suite, for the question of the peer.
  package func onlineOCRACode(
    with id: ItemID, over transport: any Transport, context: AuthenticationContext? = nil
  ) throws(VaultError) -> OCRAResult {
    let online = try begin(.code, with: id, over: transport, context: context)
    let text = try TransportFields.required("question", online.answer.text("question", 1...128))
    let suite = try OCRAItem(online.credential.item).suite
    let question: OCRAQuestion
    do throws(OTPError) { question = try OCRAQuestion(text, for: suite) } catch {
      throw .peerAnswered("'question' is none of the suite of the credential")
    }
    return try seal(
      OCRARequest(question), online, context: try context?.showing(ShownText(question.text)))
  }

  /// The code for a question, which the peer has accepted.
  package func onlineSeal(
    _ request: OCRARequest, with id: ItemID, over transport: any Transport,
    context: AuthenticationContext? = nil
  ) throws(VaultError) -> OCRAResult {
    let online = try begin(.seal(request.question.text), with: id, over: transport, context: context)
    return try seal(request, online, context: context)
  }

  private func seal(
    _ request: OCRARequest, _ online: OnlineRequest, context: AuthenticationContext?
  ) throws(VaultError) -> OCRAResult {
    let credential = online.credential
    var result = try signOCRA(
      request, with: credential.item.id, by: credential.mode.ofCodes, for: CodePurpose(isOnline: true),
      context: context)
    let made = CodeForPeer(code: result.code, counter: result.counter, notices: result.notices)
    result.notices = try finish(online, made, context: context)
    return result
  }

  /// Announces a code. A credential that makes none is refused before the peer hears of it, and the vault is unlocked: the
  /// PIN is the next thing that the person is asked for.
  private func begin(
    _ announced: Announced, with id: ItemID, over transport: any Transport, context: AuthenticationContext?
  ) throws(VaultError) -> OnlineRequest {
    var transaction = try beginReading()
    let prover = try transaction.activeProver(id)
    transaction.end()
    let credential = try permit(transport, for: prover, context: context)
    try unlock(for: credential.item, context: context)
    // Their codes are older than the one that is made now.
    let notices = try tellDecisions(of: credential, over: transport, context: context)
    let answer = try exchange(
      .onlineStart, about: credential, announced.fields, over: transport, context: context)
    let challenge = try TransportFields.required("challenge", answer.text("challenge", 1...64))
    let life = try answer.lifeSeconds(300)
    return OnlineRequest(
      credential: credential, transport: transport, challenge: challenge, answer: answer,
      deadline: try PeerDeadline(seconds: life, clock: environment.clock), notices: notices)
  }

  /// Unlocks the vault for what the use of a credential begins with. A person who is to be verified is verified for the code.
  private func unlock(for item: Item, context: AuthenticationContext?) throws(VaultError) {
    if let pin = try item.guardingPIN() {
      _ = try storedPIN(pin.item, context: context)
    } else if try !item.policy.isWrapped() {
      try beginReading(.secret(.use, of: item.id, by: .otp), context: context).end()
    }
  }

  /// Tells the code. What the peer says about the two sides is stored once it has accepted the code; where that fails, the
  /// code is accepted all the same.
  ///
  /// - Returns: What the program should tell the person.
  private func finish(
    _ online: OnlineRequest, _ made: CodeForPeer, context: AuthenticationContext?
  ) throws(VaultError) -> [OTPResult.Notice] {
    try online.deadline.check()
    var transaction = try beginReading()
    let told = ToldCodes(try transaction.state(of: online.credential.item.id))
    transaction.end()
    var fields = TransportFields()
    fields["challenge"] = .text(online.challenge)
    made.write(to: &fields)
    let notices = online.notices + made.notices
    let outOfStep = notices + [.synchronizationFailed]
    let answer: TransportFields
    do throws(VaultError) {
      answer = try exchange(
        .onlineFinish, about: online.credential, fields, over: online.transport, context: context)
    } catch {
      guard error.isSynchronizationFailure else { throw error }
      return outOfStep
    }
    do throws(VaultError) {
      let position = try PeerPosition(answer, at: environment.clock.now())
      guard try answer.flag("synchronized") ?? true else { return outOfStep }
      try store(position, nil, of: online.credential, told: told, context: context)
      return notices
    } catch { return outOfStep }
  }
}

/// What is announced to the peer.
private enum Announced {
  case code
  /// With the question that is signed.
  case seal(String)

  var fields: TransportFields {
    var fields = TransportFields()
    switch self {
    case .code: fields["purpose"] = .text("code")
    case .seal(let question):
      fields["purpose"] = .text("seal")
      fields["question"] = .text(question)
    }
    return fields
  }
}

/// A code that the peer waits for.
private struct OnlineRequest {
  let credential: PeerCredential
  let transport: any Transport
  let challenge: String
  let answer: TransportFields
  let deadline: PeerDeadline
  /// What became of decisions that the peer did not have.
  let notices: [OTPResult.Notice]
}

extension ReadTransaction {
  /// A prover that a peer has activated and that makes codes now.
  ///
  /// - Throws: ``VaultError/Code/policy`` for a verifier and without a peer, ``VaultError/Code/blocked``,
  ///   ``VaultError/Code/wrongState``, ``VaultError/Code/outOfStep``.
  mutating func activeProver(_ id: ItemID) throws(VaultError) -> PeerCredential {
    let credential = try peerProver(id)
    let state = try state(of: id)
    let item = credential.item
    if item.countsCodes { try state.refuseUnusable(item) } else { try state.refuseUnlessActive() }
    try refuseBlockedPIN(of: item)
    return credential
  }
}
