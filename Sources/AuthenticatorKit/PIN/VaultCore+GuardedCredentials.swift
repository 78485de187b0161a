import SecretMemory
import VaultKit

/// Credentials that a PIN may guard.
extension VaultCore {
  /// Uses a credential. If a PIN guards it, asks for the PIN or its biokey first.
  ///
  /// - Parameters:
  ///   - factors: What may be asked for, if a PIN guards it.
  ///   - purpose: What a code is made for; `nil` where none is made.
  ///   - action: What the PIN is for, as a verb phrase.
  ///   - check: What could refuse the use. Nobody is asked for a use that is refused. Returns whether the use needs the PIN.
  ///   - body: Begins the transaction of the use, and writes with ``CredentialUse/writeFactor(in:)`` what the PIN leaves, in the commit of
  ///     what the PIN permits. Gets the transaction of the check if nobody was asked since.
  func usingCredential<R: ~Copyable>(
    _ id: ItemID, for operation: ItemOperation = .use, by factors: PINFactors = [.current, .biometric],
    making purpose: CodePurpose? = nil, to action: String, context: AuthenticationContext?,
    checking check: (Item, inout ReadTransaction) throws(VaultError) -> Bool,
    body: (CredentialUse, consuming ReadTransaction?) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    var shown: ShownFactor?
    return try committingVerdict(on: { shown }) { () throws(VaultError) in
      try repeatingBiokey(of: { shown }, context) { () throws(VaultError) in
        var look = try beginReading()
        let item = try look.item(id)
        guard try check(item, &look), let pin = try item.guardingPIN() else {
          return try body(CredentialUse(component: .otp, shown: nil), look)
        }
        // Nothing can judge the PIN, and a counter makes no code.
        if operation == .replace, pin.mode == .camouflaged {
          return try body(CredentialUse(component: Component(.otp, pin: .camouflaged), shown: nil), look)
        }
        try look.refuse(.secret(operation, of: id, by: .otp))
        // A credential that makes no code asks for no PIN.
        if operation == .use { try look.state(of: id).refuseUnlessActive() }
        look.end()
        let new = try shownFactor(
          pin, by: item.factors(outOf: factors), climbing: purpose?.ladder, to: purpose?.action ?? action,
          of: item.name, context: context)
        shown = new
        shown = try writtenBeforeAsking(new, for: id)
        return try body(CredentialUse(component: Component(.otp, pin: new.obtained), shown: shown), nil)
      }
    }
  }

  /// The person may take long to show what the access rule asks for besides the PIN, and an attempt without a verdict counts
  /// as a wrong one: as soon as another process tries the PIN, a right one could block it.
  private func writtenBeforeAsking(_ shown: ShownFactor, for id: ItemID) throws(VaultError) -> ShownFactor {
    guard case .pin(var pin) = shown, case .checked = pin.secret else { return shown }
    var transaction = try beginReading()
    let asksPerson = try transaction.item(id).access.asksPerson
    transaction.end()
    guard asksPerson else { return shown }
    var change = try beginWriting()
    _ = try change.writeUse(of: pin)
    try change.commit()
    pin.isWritten = true
    return .pin(pin)
  }
}

extension Item {
  /// Those of the factors with which the server that activated the credential accepts its codes.
  ///
  /// - Throws: ``VaultError/Code/policy`` if none is left.
  fileprivate func factors(outOf factors: PINFactors) throws(VaultError) -> PINFactors {
    guard let mode = attributes[.peerPINMode].flatMap({ Int(exactly: $0) }) else { return factors }
    let accepted = PINFactors(rawValue: mode).ofCodes
    guard !factors.isDisjoint(with: [.current, .biometric]), accepted.isDisjoint(with: factors) else {
      return factors.intersection(accepted)
    }
    throw accepted.contains(.biometric)
      ? VaultError(
        .policy, "the server wants codes of this credential by biokey", hint: "use the biokey of the PIN")
      : VaultError(.policy, "the server wants codes of this credential by PIN", hint: "use the PIN")
  }

  /// The PIN that guards the item.
  func guardingPIN() throws(VaultError) -> GuardingPIN? { try policy.requirements().pin }

  /// - Throws: ``VaultError/Code/policy`` if the secret is behind a camouflaged PIN.
  func refuseIfCamouflaged(_ why: String) throws(VaultError) {
    guard try guardingPIN()?.mode != .camouflaged else { throw VaultError(.policy, why) }
  }
}
