import OneTimePassword
package import SecretMemory
package import VaultKit

/// Logins on the synchronous core. ``PINItem`` offers the same on the actor.
extension VaultCore {
  /// Whether there is a PIN item of this name.
  package func isPINSet(_ name: String) throws(VaultError) -> Bool {
    do throws(VaultError) { return try items(.name(name)).first?.kind == .pin } catch {
      guard error.code == .itemNotFound else { throw error }
      return false
    }
  }

  /// Judges a checked PIN or its biokey. The login is in the commit of the verdict.
  package func logIn(
    _ id: ItemID, by factor: LoginFactor, data: SharedSecret? = nil, context: AuthenticationContext? = nil
  ) throws(VaultError) -> Login {
    try refuseLoginUnlessChecked(id, context: context)
    let digest = try data.map(Self.digest)
    var shown: ShownFactor?
    return try committingVerdict(on: { shown }) { () throws(VaultError) in
      try repeatingBiokey(of: { shown }, context) { () throws(VaultError) in
        let new = try shownFactor(
          GuardingPIN(.checked, item: id), by: factor.factors, to: "log in", of: nil, context: context)
        shown = new
        var transaction = try beginWriting(.free, context: context)
        switch new {
        case .pin(let pin): try transaction.writeUse(of: pin)
        case .biokey(let biokey): try transaction.writeUse(of: biokey)
        }
        let result = try transaction.login(id, detail: digest, wasMarked: new.wasMarked)
        try transaction.commit()
        return result
      }
    }
  }

  /// The same, where a peer names the login. Its counter, and the verdict on the PIN, are on disk before the peer gets the
  /// code.
  package func logIn(
    _ id: ItemID, with credential: ItemID, over transport: any Transport, by factor: LoginFactor,
    data: SharedSecret? = nil, context: AuthenticationContext? = nil
  ) throws(VaultError) -> Login {
    try refuseLoginUnlessChecked(id, context: context)
    var transaction = try beginReading()
    let prover = try transaction.activeProver(credential)
    transaction.end()
    let question = try prover.loginQuestion(by: factor, of: id, data: data)
    let peer = try permit(transport, for: prover, context: context)
    // Their codes are older than the one that is made now. The list of transactions says what became of them.
    _ = try tellDecisions(of: peer, over: transport, context: context)
    let made = try code(
      of: peer.item, for: question, by: factor.factors, for: CodePurpose(isOnline: true), context: context)
    var fields = TransportFields()
    fields["type"] = .text(factor.rawValue)
    made.write(to: &fields)
    if let data { fields["dataBase64"] = .secret(TransportSecret(data)) }
    let answer = try exchange(.login, about: peer, fields, over: transport, context: context)
    let name = try TransportFields.required("login", answer.text("login", 1...255))
    var change = try beginWriting(.free, context: context)
    let result = try change.login(
      id, named: name, detail: name, wasMarked: made.notices.contains(.pinWasMarked))
    try change.commit()
    return result
  }

  private func refuseLoginUnlessChecked(_ id: ItemID, context: AuthenticationContext?) throws(VaultError) {
    // The use of the PIN refuses a blocked one, and logs that.
    let stored = try storedPIN(id, isUnlocking: true, context: context)
    try stored.refuse(unlessCheckedFor: "it cannot be verified")
  }

  /// The SHA-256 of what a login is bound to, as a seal of the same data would have it.
  private static func digest(_ data: SharedSecret) throws(VaultError) -> String {
    try otp { () throws(OTPError) in
      let suite = try OCRASuite("OCRA-1:HOTP-SHA256-8:QH64")
      return try data.expose { (data) throws(OTPError) in try OCRAQuestion(data: data, for: suite).text }
    }
  }
}

extension ShownFactor {
  fileprivate var wasMarked: Bool {
    switch self {
    case .pin(let pin): pin.wasMarked
    case .biokey(let biokey): biokey.wasMarked
    }
  }
}

extension WriteTransaction {
  /// Records a login.
  ///
  /// - Parameter name: That of the peer; `nil` for the number of the entry.
  fileprivate mutating func login(
    _ id: ItemID, named name: String? = nil, detail: String?, wasMarked: Bool
  ) throws(VaultError) -> Login {
    let item = try item(id)
    try log(.login, item: item, detail: detail)
    return Login(
      item: id, id: name ?? String(lastEntry),
      attemptsLeft: PINAttempts.left(try state(of: id), limit: item.pinLimit), wasMarked: wasMarked)
  }
}

extension PeerCredential {
  /// The question of a login, which a credential with a suite signs; `nil` without a suite.
  ///
  /// - Throws: ``VaultError/Code/policy`` if the credential cannot serve a login with this PIN, ``VaultError/Code/malformed``
  ///   for data that the peer or the suite does not take.
  fileprivate func loginQuestion(
    by factor: LoginFactor, of pin: ItemID, data: SharedSecret?
  ) throws(VaultError) -> OCRAQuestion? {
    guard try item.guardingPIN()?.item == pin else {
      throw VaultError(
        .policy, "the credential is not behind this PIN", hint: "name a credential that this PIN guards")
    }
    guard mode.ofCodes.isSuperset(of: factor.factors) else {
      throw VaultError(
        .policy, "the server does not take that for this credential",
        hint: factor == .pin ? "use the biokey" : "use the PIN")
    }
    guard 1...4096 ~= data?.byteCount ?? 1 else {
      throw VaultError(
        .malformed, "a login is bound to 1 to 4,096 bytes, or to nothing",
        hint: "leave the data out, or bind the login to their hash value")
    }
    guard let suite = try item.suite else { return nil }
    guard let data else {
      throw VaultError(
        .malformed, "the credential has a suite: a login with it needs data", hint: "give the data")
    }
    return try otp { () throws(OTPError) in
      try data.expose { (data) throws(OTPError) in try OCRAQuestion(data: data, for: suite) }
    }
  }
}
