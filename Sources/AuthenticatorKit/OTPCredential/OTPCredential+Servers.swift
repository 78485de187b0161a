public import SecretMemory
public import VaultKit

/// What a server needs: credentials from parameters, many at once, found again by their identifiers.
extension OTPCredential {
  /// Adds a credential from its parameters.
  ///
  /// - Parameters:
  ///   - new: Everything but the key.
  ///   - key: The shared secret, 10 to 512 bytes; 20 recommended (RFC 4226 R6).
  ///   - vault: The vault that stores it.
  ///   - context: Gives the passcode of a locked vault, the PIN, and the application password if the access rule asks for
  ///     one.
  /// - Throws: ``VaultError/Code/malformed``, ``VaultError/Code/duplicateItem``, ``VaultError/Code/locked``; with
  ///   ``NewOTPCredential/pin`` as ``enroll(_:role:window:access:named:in:pin:allowingWeak:context:)``.
  public static func enroll(
    _ new: NewOTPCredential, key: consuming SecretBytes, in vault: Vault,
    context: AuthenticationContext? = nil
  ) async throws(VaultError) -> OTPCredential {
    OTPCredential(try await vault.enrollOTP(new, key: key, context: context), vault: vault)
  }

  /// The credential that an item stores.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``, also if the item is of another kind; ``VaultError/Code/unsupported``
  ///   for parameters that this version does not know.
  public init(id: ItemID, in vault: Vault) async throws(VaultError) {
    self.init(try await vault.describeOTP(id), vault: vault)
  }

  /// The credentials of a vault with their states, in the order of enrollment, without a prompt. Credentials with
  /// parameters that this version does not know, and activations that are not complete, are left out.
  ///
  /// - Parameters:
  ///   - vault: The vault.
  ///   - attributes: What must be equal: ``Attribute/account``, ``Attribute/issuer``, ``Attribute/otpRole`` …
  public static func list(
    in vault: Vault, where attributes: Attributes = Attributes()
  ) async throws(VaultError) -> [OTPDescription] {
    try await vault.listOTP(attributes)
  }

  /// Parameters and state as they are now.
  public func describe() async throws(VaultError) -> OTPDescription { try await vault.describeOTP(id) }

  /// Reserves the next counters of a HOTP prover in one durable write, so that their codes need no further write.
  /// Processes that use the credential meanwhile get later counters.
  ///
  /// - Parameters:
  ///   - count: The number of codes, 1 or more, less than half of `lookAhead`.
  ///   - lookAhead: How many counters the server tries, at most 10,000; `nil` for the credential's own window.
  ///   - context: Who is asked where the credential has constraints.
  /// - Throws: ``VaultError/Code/malformed`` for too many, ``VaultError/Code/policy`` for a verifier, a credential
  ///   without a counter or behind a PIN, ``VaultError/Code/outOfStep``, ``VaultError/Code/locked``, ``VaultError/Code/expired`` near
  ///   the end of the counter.
  public func reserve(
    _ count: UInt64, lookAhead: UInt64? = nil, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> ReservedCodes {
    try await vault.reserveOTP(count, of: id, lookAhead: lookAhead, context: context)
  }

  /// Records that the server accepted the last code of a HOTP prover: ``ItemState/unconfirmed`` is then 0. A program
  /// can synchronize with the server before this number exceeds what the server looks ahead.
  ///
  /// Behind a camouflaged PIN, of any prover: a pending change of the PIN is then final, as with
  /// ``PINItem/confirm(context:)``.
  ///
  /// - Parameter context: Verifies the person if the credential has constraints.
  /// - Throws: ``VaultError/Code/policy`` for a verifier or a credential without a counter;
  ///   ``VaultError/Code/locked`` behind a camouflaged PIN.
  public func confirm(context: AuthenticationContext? = nil) async throws(VaultError) {
    try await vault.confirmOTP(id, context: context)
  }
}

extension WriteTransaction {
  /// Adds a credential from its parameters. Ten thousand in one transaction take as long as so many items.
  ///
  /// - Parameters:
  ///   - new: Everything but the key.
  ///   - key: The shared secret, 10 to 512 bytes; 20 recommended (RFC 4226 R6).
  /// - Returns: The item, for ``OTPCredential/init(id:in:)``.
  /// - Throws: ``VaultError/Code/malformed``, ``VaultError/Code/duplicateItem``, ``VaultError/Code/locked``;
  ///   ``VaultError/Code/verificationNeeded`` behind a PIN, because a transaction asks no person.
  @discardableResult
  public mutating func enroll(_ new: NewOTPCredential, key: consuming SecretBytes) throws(VaultError) -> Item
  {
    guard new.pin == nil else { throw .pinInTransaction }
    try new.limits.check(new.role)
    let now = reading.expiryTime
    return try addOTP(new.uri(key: key), named: new.name, role: new.role, window: new.window) { item in
      (item.access, item.audit) = (new.access, new.audit)
      item.limit(to: new.limits, from: now)
    }
  }
}

extension Vault {
  fileprivate func enrollOTP(
    _ new: NewOTPCredential, key: consuming SecretBytes, context: AuthenticationContext?
  ) async throws(VaultError) -> OTPDescription {
    let key = SharedSecret(key)
    return try await asking(context) { core, context throws(VaultError) in
      try core.addOTP(
        new.uri(key: key.bytes.copy()), named: new.name, role: new.role, window: new.window,
        access: new.access, audit: new.audit, pin: new.pin?.id, limits: new.limits, context: context)
    }
  }

  fileprivate func describeOTP(_ id: ItemID) throws(VaultError) -> OTPDescription {
    try core.describeOTP(of: id)
  }

  fileprivate func listOTP(_ attributes: Attributes) throws(VaultError) -> [OTPDescription] {
    try core.listOTP(where: attributes)
  }

  fileprivate func reserveOTP(
    _ count: UInt64, of id: ItemID, lookAhead: UInt64?, context: AuthenticationContext?
  ) async throws(VaultError) -> ReservedCodes {
    try await asking(context) { core, context throws(VaultError) in
      try core.reserveHOTPCodes(count, of: id, lookAhead: lookAhead, context: context)
    }
  }

  fileprivate func confirmOTP(_ id: ItemID, context: AuthenticationContext?) async throws(VaultError) {
    try await asking(context) { core, context throws(VaultError) in
      try core.confirmOTP(of: id, context: context)
    }
  }
}
