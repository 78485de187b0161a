public import OneTimePassword
public import SecretMemory
public import VaultKit

// The front page of AuthenticatorKit, which builds authenticator components on top of a vault. The vault keeps secret and state; the
// module OneTimePassword calculates. Read in this order:
//
// - `OTPCredential`: what an application uses, on the actor `Vault`.
// - `OTPCredential+Servers.swift`: credentials from parameters (`NewOTPCredential`), many at once, in lists, and
//   blocks of codes (`ReservedCodes`).
// - `VaultCore+OTP.swift`: the same on the synchronous core, for provers. A counter is on disk before its code is
//   shown. `VaultCore+OTPVerifier.swift`: the same for verifiers. `WriteTransaction+OTP.swift`: many credentials at
//   once.
// - `OTPItem`: how a credential is stored in the attributes and the state of an item.
// - `OTPDescription`, `OTPRole` and `OTPResult`: what callers see.
// - `PINItem`: the PIN that guards credentials.
// - `OCRACredential`: credentials whose codes answer questions.
// - `ClientKey`: keys that sign.

/// A one-time-password credential in a vault: HOTP, TOTP or Steam, prover or verifier.
///
/// ```swift
/// let credential = try await OTPCredential.enroll(uri, named: "example", in: vault)
/// print(try await credential.nextCode().code)
/// ```
///
/// The vault keeps secret and state: a prover's counter is on the disk before its code is returned, and a verifier accepts a code once.
public struct OTPCredential: Sendable {
  /// The item that stores the credential.
  public let id: ItemID
  /// HOTP, TOTP or Steam.
  public let kind: OTPDescription.Kind
  /// Who judges the PIN that guards the key; `nil` without a PIN.
  public let pinMode: PINMode?
  let vault: Vault

  /// Adds a credential from an `otpauth:` URI.
  ///
  /// Behind a ``PINMode/checked`` PIN, the PIN is verified first. Behind a ``PINMode/camouflaged`` PIN, a person types the
  /// PIN twice, and **nothing can check it**: with a mistyped PIN the server accepts no code. One secret is enrolled behind
  /// a camouflaged PIN once: never the same secret again, under whatever name, because two masks of one secret reveal the
  /// PIN.
  ///
  /// - Parameters:
  ///   - uri: The text as services print it, at most 4,096 bytes.
  ///   - role: A prover generates codes; a verifier judges them.
  ///   - window: How many counters, or steps to either side, a verifier tries; `nil` for 10 and 1.
  ///   - access: Who may use the credential, and when.
  ///   - name: The vault-wide name of its item.
  ///   - vault: The vault that stores it.
  ///   - pin: The PIN that guards the key; `nil` for none.
  ///   - allowsWeak: Whether a secret of fewer than 80 bits, and codes of 4 and 5 digits, are accepted: for a person whose
  ///     server chose them.
  ///   - context: Gives the PIN, and the application password where `access` asks for one.
  /// - Throws: ``VaultError/Code/malformed``, ``VaultError/Code/duplicateItem``, ``VaultError/Code/locked``;
  ///   ``VaultError/Code/policy`` for another accessibility than that of the PIN, and behind a camouflaged PIN for a
  ///   verifier, a key of printable characters only, and while a change of the PIN is pending; what
  ///   ``PINItem/verify(context:)`` throws.
  public static func enroll(
    _ uri: borrowing SecretBytes, role: OTPRole = .prover, window: UInt64? = nil,
    access: AccessControl = AccessControl(), named name: String, in vault: Vault, pin: PINItem? = nil,
    allowingWeak allowsWeak: Bool = false, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> OTPCredential {
    let text = uri.expose { SecretBytes(copying: $0) }
    return try await vault.enroll(
      text, role: role, window: window, access: access, name: name, pin: pin?.id, allowsWeak: allowsWeak,
      context: context)
  }

  /// The credential with this name.
  ///
  /// The error and the time tell whether there is one. A program that judges the codes of others judges those of unknown names
  /// too, by a credential that it keeps for that, and passes neither the error nor `retryAfter` on.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``.
  public static func named(_ name: String, in vault: Vault) async throws(VaultError) -> OTPCredential {
    OTPCredential(try await vault.describeOTP(name), vault: vault)
  }

  init(_ description: OTPDescription, vault: Vault) {
    id = description.item.id
    kind = description.kind
    pinMode = description.pinMode
    self.vault = vault
  }

  /// The next code. A HOTP counter is on disk before this returns: gaps are possible, duplicates are not.
  ///
  /// Behind a PIN, asks for it by itself, or for the biokey that replaces it: a PIN that was given is used, otherwise the
  /// biokey is asked for first. A wrong camouflaged PIN makes a wrong code, without an error.
  ///
  /// - Parameters:
  ///   - factors: Which of the two may be asked for; without meaning for a credential without a PIN.
  ///   - context: Who is asked where the credential has constraints; gives the PIN.
  /// - Throws: ``VaultError/Code/policy`` for a verifier, ``VaultError/Code/outOfStep`` after a restore,
  ///   ``VaultError/Code/locked``, ``VaultError/Code/expired`` when the counter has reached its end; for a checked PIN
  ///   ``VaultError/Code/authenticationFailed`` with `attemptsLeft`, ``VaultError/Code/blocked``; for any PIN
  ///   ``VaultError/Code/pinRefused`` for a wrong form, ``VaultError/Code/interactionNotAllowed``.
  public func nextCode(
    by factors: PINFactors = [.current, .biometric], context: AuthenticationContext? = nil
  ) async throws(VaultError) -> OTPResult {
    try await vault.nextCode(of: self, by: factors, context: context)
  }

  /// Judges a code, single use: an accepted code is on disk before this returns (RFC 6238 §5.2, RFC 4226 §7.2).
  ///
  /// - Parameters:
  ///   - code: Exactly the characters of a code.
  ///   - context: Verifies the person if the credential has constraints.
  /// - Returns: The counter or time step of the code.
  /// - Throws: ``VaultError/Code/authenticationFailed`` for a wrong code, ``VaultError/Code/lockedOut`` before the delay
  ///   after one is over, both with `retryAfter` and no attempts left; ``VaultError/Code/alreadyUsed``,
  ///   ``VaultError/Code/malformed``.
  public func verify(_ code: String, context: AuthenticationContext? = nil) async throws(VaultError)
    -> OTPAcceptance
  {
    try await vault.verify(self, code: code, context: context)
  }

  /// Finds the counter or clock of the other side again, by two consecutive codes (RFC 4226 §7.4).
  public func resynchronize(
    _ first: String, _ second: String, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> OTPAcceptance {
    try await vault.resynchronize(self, first: first, second: second, context: context)
  }

  /// Sets the counter of a HOTP credential and ends "needs resynchronization". The audit logs the old and the new
  /// value.
  ///
  /// - Parameters:
  ///   - counter: The moving factor of the next code.
  ///   - force: Allows a counter that was used before, so that its codes come a second time. The gate then asks for
  ///     the same as for the secret itself: an unlocked vault, and what the credential's access rule asks for.
  ///   - context: Verifies the person, with `force`, if the credential has constraints.
  /// - Throws: ``VaultError/Code/policy`` without `force` for a counter that was used before.
  public func setCounter(
    to counter: UInt64, force: Bool = false, context: AuthenticationContext? = nil
  ) async throws(VaultError) {
    try await vault.setCounter(of: self, to: counter, force: force, context: context)
  }
}

extension Vault {
  fileprivate func enroll(
    _ text: consuming SecretBytes, role: OTPRole, window: UInt64?, access: AccessControl,
    name: String, pin: ItemID?, allowsWeak: Bool, context: AuthenticationContext?
  ) async throws(VaultError) -> OTPCredential {
    let text = SharedSecret(text)
    let description = try await asking(context) { core, context throws(VaultError) in
      let parsed = try otp { () throws(OTPError) in
        try OTPAuthURI(parsing: text.bytes, allowingWeak: allowsWeak)
      }
      return try core.addOTP(
        parsed, named: name, role: role, window: window, access: access, pin: pin, context: context)
    }
    return OTPCredential(description, vault: self)
  }

  fileprivate func describeOTP(_ name: String) throws(VaultError) -> OTPDescription {
    try core.describeOTP(named: name)
  }

  fileprivate func nextCode(
    of credential: OTPCredential, by factors: PINFactors, context: AuthenticationContext?
  ) async throws(VaultError) -> OTPResult {
    let (id, kind) = (credential.id, credential.kind)
    return try await asking(context) { core, context throws(VaultError) in
      kind == .hotp
        ? try core.nextHOTPCode(of: id, by: factors, context: context)
        : try core.timedCode(of: id, by: factors, context: context)
    }
  }

  fileprivate func verify(_ credential: OTPCredential, code: String, context: AuthenticationContext?)
    async throws(VaultError) -> OTPAcceptance
  {
    let id = credential.id
    return try await asking(context) { core, context throws(VaultError) in
      try core.verifyOTP(of: id, code: code, context: context)
    }
  }

  fileprivate func resynchronize(
    _ credential: OTPCredential, first: String, second: String, context: AuthenticationContext?
  ) async throws(VaultError) -> OTPAcceptance {
    let id = credential.id
    return try await asking(context) { core, context throws(VaultError) in
      try core.resynchronizeOTP(of: id, first, second, context: context)
    }
  }

  fileprivate func setCounter(
    of credential: OTPCredential, to counter: UInt64, force: Bool, context: AuthenticationContext?
  ) async throws(VaultError) {
    let id = credential.id
    try await asking(context) { core, context throws(VaultError) in
      try core.setCounter(of: id, to: counter, force: force, context: context)
    }
  }
}
