import SecretMemory
import VaultKit

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
  func writeFactor(in transaction: inout WriteTransaction) throws(VaultError) -> [OTPResult.Notice] {
    if case .biokey(let biokey)? = shown { try transaction.writeUse(of: biokey) }
    guard let pin else { return [] }
    var notices: [OTPResult.Notice] = pin.wasMarked ? [.pinWasMarked] : []
    if let codes = try transaction.writeUse(of: pin), codes >= OTPResult.Notice.codesBeforeConfirmation {
      notices.append(.confirmationDue(codes: Int(codes)))
    }
    return notices
  }
}
