package import OneTimePassword
package import SecretMemory
package import VaultKit

/// Credentials inside a transaction, for operations on many items at once.
extension WriteTransaction {
  /// Adds a credential.
  ///
  /// - Parameters:
  ///   - window: How many counters, or steps to either side, a verifier tries; `nil` for 10 and 1.
  ///   - adjust: Sets further fields of the item.
  package mutating func addOTP(
    _ uri: borrowing OTPAuthURI, named name: String, role: OTPRole, window: UInt64? = nil,
    adjusting adjust: (inout NewItem) -> Void = { _ in }
  ) throws(VaultError) -> Item {
    var new = NewItem(
      .otp, name: name, attributes: try OTPItem.attributes(of: uri, role: role, window: window))
    new.joinsEntry = true
    if case .hotp(let counter) = uri.kind { new.state.counter = counter }
    adjust(&new)
    return try add(new, secret: uri.secret.copy(), by: .otp)
  }

  /// The URI of a credential with its secret. An entry in the audit records the export.
  ///
  /// - Parameters:
  ///   - item: The credential.
  ///   - component: With what a PIN that guards the credential gave.
  ///   - operation: `exportOfAll` also for a credential in the trash.
  /// - Throws: ``VaultError/Code/policy`` behind a camouflaged PIN: a secret outside of it would reveal the PIN.
  package mutating func exportOTP(
    _ item: Item, by component: Component = .otp, for operation: ItemOperation = .export
  ) throws(VaultError) -> SecretBytes {
    try item.refuseExport()
    let credential = try OTPItem(item)
    let key = try exportSecret(of: item, by: component, for: operation)
    let text = try credential.uri(key: key, state: try state(of: item.id)).text()
    try log(.exported, item: item)
    return text
  }
}

extension Item {
  /// Refuses to make a URI that no one can use, or that reveals a PIN.
  func refuseExport() throws(VaultError) {
    guard !hasSuite else {
      throw VaultError(
        .policy, "no otpauth URI has a place for the suite of the credential",
        hint: .exportItems)
    }
    _ = try OTPItem(self)
    try refuseIfCamouflaged("the secret behind a camouflaged PIN is never exported: it would reveal the PIN")
  }
}
