import SecretMemory
import VaultKit

/// Credentials that a PIN may guard.
extension VaultCore {
  /// Uses a credential. If a PIN guards it, asks for the PIN or its biokey first.
  ///
  /// - Parameters:
  ///   - factors: What may be asked for, if a PIN guards it.
  ///   - action: What the PIN is for, as a verb phrase.
  ///   - body: Writes with ``CredentialUse/settle(in:)`` what the PIN leaves, in the commit of what the PIN permits.
  func usingCredential<R: ~Copyable>(
    _ id: ItemID, for operation: ItemOperation = .use, by factors: PINFactors = [.current, .biometric],
    to action: String, context: AuthenticationContext?,
    body: (consuming Grant?, CredentialUse) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    var shown: ShownFactor?
    do throws(VaultError) {
      return try authorizing(
        operation, on: id, by: .otp, context: context,
        obtaining: { pin throws(VaultError) in
          // Nothing can judge the PIN, and a counter makes no code.
          if operation == .replace, pin.mode == .camouflaged { return Component(.otp, pin: .camouflaged) }
          let name = try reading { transaction throws(VaultError) in try transaction.item(id).name }
          let new = try shownFactor(pin, by: factors, to: action, of: name, context: context)
          shown = new
          return Component(.otp, pin: new.obtained)
        },
        body: { (grant, component) throws(VaultError) in
          try body(grant, CredentialUse(component: component, shown: shown))
        })
    } catch {
      // What failed was not the PIN: a right one is no wrong attempt.
      if case .pin(let pin)? = shown, case .checked = pin.secret {
        try? writing { transaction throws(VaultError) in _ = try transaction.settle(pin) }
      }
      throw error
    }
  }
}

/// What the use of a credential has obtained: its component and, if a PIN guards it, the PIN or its biokey.
struct CredentialUse {
  let component: Component
  /// `nil` without a PIN.
  let shown: ShownFactor?

  private var pin: ShownPIN? {
    guard case .pin(let pin)? = shown else { return nil }
    return pin
  }

  /// Lends the secret of the credential: its data, without the mask if it has one.
  func withSecret<R: ~Copyable>(
    _ data: borrowing SecretBytes, of item: Item,
    _ body: (borrowing SecretBytes) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    guard let pin, case .camouflaged(let key, _) = pin.secret else { return try body(data) }
    return try body(CamouflagedPIN.masked(data, by: key, of: item.id, vault: pin.stored.vault))
  }

  /// Writes what the use leaves in the PIN item or the log. Does nothing without a PIN.
  ///
  /// - Returns: What the caller must tell the person.
  func settle(in transaction: inout WriteTransaction) throws(VaultError) -> [OTPResult.Notice] {
    if case .biokey(let biokey)? = shown { try transaction.settle(biokey) }
    guard let pin else { return [] }
    var notices: [OTPResult.Notice] = pin.wasMarked ? [.pinWasMarked] : []
    if let codes = try transaction.settle(pin), codes >= OTPResult.Notice.codesBeforeConfirmation {
      notices.append(.confirmationDue(codes: Int(codes)))
    }
    return notices
  }
}

extension Item {
  /// The PIN that guards the item.
  func guardingPIN() throws(VaultError) -> GuardingPIN? { try policy.requirements().pin }

  /// - Throws: ``VaultError/Code/policy`` if the secret is behind a camouflaged PIN.
  func refuseIfCamouflaged(_ why: String) throws(VaultError) {
    guard try guardingPIN()?.mode != .camouflaged else { throw VaultError(.policy, why) }
  }
}
