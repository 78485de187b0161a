public import OneTimePassword
public import SecretMemory
public import VaultKit

// The front page of credentials with a suite. `OCRAGenerator` and `OCRAVerifier` calculate. Read in this order:
//
// - `OCRACredential`: what an application uses, on the actor `Vault`. `NewOCRACredential` is enrolled,
//   `OCRARequest` is signed or verified, `OCRAResult` and `OCRADescription` are what callers see.
// - `VaultCore+OCRA.swift`: the same on the synchronous core, for provers. A counter is on disk before its code is
//   shown. `VaultCore+OCRAVerifier.swift`: the same for verifiers. `WriteTransaction+OCRA.swift`: inside a transaction.
// - `OCRAItem`: how a credential is stored in the attributes of an item.

/// A credential that signs questions in a vault (OCRA, RFC 6287): prover or verifier, with any suite.
///
/// ```swift
/// let credential = try await OCRACredential.enroll(NewOCRACredential(suite, name: "bank"), key: key, in: vault)
/// let question = try OCRAQuestion(data: payment.span, for: suite)
/// print(try await credential.sign(OCRARequest(question)).code)
/// ```
///
/// ``NewOCRACredential`` is enrolled, and an ``OCRARequest`` is signed or verified. A counter is on the disk before its code is returned.
public struct OCRACredential: Sendable {
  /// The item that stores the credential.
  public let id: ItemID
  /// What a code is made of.
  public let suite: OCRASuite
  /// Prover or verifier.
  public let role: OTPRole
  let vault: Vault

  /// Adds a credential.
  ///
  /// - Parameters:
  ///   - new: Everything but the key.
  ///   - key: The shared secret, 10 to 512 bytes; 20 recommended (RFC 4226 R6).
  ///   - vault: The vault that stores it.
  ///   - context: Gives the passcode of a locked vault, the PIN, and the application password if the access rule asks for
  ///     one.
  /// - Throws: ``VaultError/Code/malformed``, ``VaultError/Code/duplicateItem``, ``VaultError/Code/locked``; with
  ///   ``NewOCRACredential/pin`` as ``OTPCredential/enroll(_:role:window:access:named:in:pin:allowingWeak:context:)``.
  public static func enroll(
    _ new: NewOCRACredential, key: consuming SecretBytes, in vault: Vault,
    context: AuthenticationContext? = nil
  ) async throws(VaultError) -> OCRACredential {
    OCRACredential(try await vault.enrollOCRA(new, key: key, context: context), vault: vault)
  }

  /// The credential with this name. As with ``OTPCredential/named(_:in:)``, error and time tell whether there is one.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``; ``VaultError/Code/policy`` for a credential without a suite.
  public static func named(_ name: String, in vault: Vault) async throws(VaultError) -> OCRACredential {
    OCRACredential(try await vault.describeOCRA(name), vault: vault)
  }

  /// The credential that an item stores.
  ///
  /// - Throws: As ``named(_:in:)``.
  public init(id: ItemID, in vault: Vault) async throws(VaultError) {
    self.init(try await vault.describeOCRA(id), vault: vault)
  }

  /// The credentials with a suite, with their states, in the order of enrollment, without a prompt.
  public static func list(in vault: Vault) async throws(VaultError) -> [OCRADescription] {
    try await vault.listOCRA()
  }

  private init(_ description: OCRADescription, vault: Vault) {
    (id, suite, role) = (description.item.id, description.suite, description.role)
    self.vault = vault
  }

  /// Parameters and state as they are now.
  public func describe() async throws(VaultError) -> OCRADescription { try await vault.describeOCRA(id) }

  /// The code for a question. With a suite with `C`, the next counter is on disk before this returns, so no counter signs
  /// twice: gaps are possible.
  ///
  /// - Parameters:
  ///   - request: Exactly the values that the suite names.
  ///   - context: Who is asked where the credential has constraints; gives the PIN that guards it. A wrong camouflaged PIN
  ///     makes a wrong code, without an error. What its prompts show: ``AuthenticationContext/showing(_:)``.
  /// - Throws: ``VaultError/Code/malformed`` for values that the suite does not name or allow, ``VaultError/Code/policy``
  ///   for a verifier, ``VaultError/Code/outOfStep`` after a restore, ``VaultError/Code/locked``,
  ///   ``VaultError/Code/expired`` when the counter has reached its end; behind a PIN as
  ///   ``OTPCredential/nextCode(by:context:)``.
  public func sign(
    _ request: OCRARequest, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> OCRAResult {
    try await vault.signOCRA(request, with: id, context: context)
  }

  /// Judges a code for a question. With a suite with `C` or `T` it is single use: an accepted code is on disk before this
  /// returns. With neither, the code depends on the question alone: never ask one question twice.
  ///
  /// - Parameters:
  ///   - code: Exactly the characters of a code.
  ///   - request: What was to be signed; its ``OCRARequest/unixTime`` is not used.
  ///   - context: Verifies the person if the credential has constraints.
  /// - Returns: The counter of the code, or its time step for a suite with `T` alone; 0 for a suite with neither.
  /// - Throws: As ``OTPCredential/verify(_:context:)``, and ``VaultError/Code/malformed`` for values that the suite does
  ///   not name or allow.
  @discardableResult
  public func verify(
    _ code: String, for request: OCRARequest, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> OTPAcceptance {
    try await vault.verifyOCRA(code, for: request, with: id, context: context)
  }

  /// Sets the counter of a suite with `C`, and ends "needs resynchronization". The audit logs the old and the new value.
  ///
  /// - Parameters:
  ///   - counter: The counter of the next code.
  ///   - force: Allows a counter that was used before, so that its codes come a second time; as
  ///     ``OTPCredential/setCounter(to:force:context:)``.
  ///   - context: Verifies the person, with `force`, if the credential has constraints.
  /// - Throws: ``VaultError/Code/policy`` for a suite without a counter, and without `force` for a counter that was used
  ///   before.
  public func setCounter(
    to counter: UInt64, force: Bool = false, context: AuthenticationContext? = nil
  ) async throws(VaultError) {
    try await vault.setOCRACounter(of: id, to: counter, force: force, context: context)
  }
}

extension Vault {
  fileprivate func enrollOCRA(
    _ new: NewOCRACredential, key: consuming SecretBytes, context: AuthenticationContext?
  ) async throws(VaultError) -> OCRADescription {
    let key = SharedSecret(key)
    return try await asking(context) { core, context throws(VaultError) in
      try core.addOCRA(new, key: key.bytes, context: context)
    }
  }

  fileprivate func describeOCRA(_ name: String) throws(VaultError) -> OCRADescription {
    try core.describeOCRA(named: name)
  }

  fileprivate func describeOCRA(_ id: ItemID) throws(VaultError) -> OCRADescription {
    try core.describeOCRA(of: id)
  }

  fileprivate func listOCRA() throws(VaultError) -> [OCRADescription] { try core.listOCRA() }

  fileprivate func signOCRA(
    _ request: OCRARequest, with id: ItemID, context: AuthenticationContext?
  ) async throws(VaultError) -> OCRAResult {
    try await asking(context) { core, context throws(VaultError) in
      try core.signOCRA(request, with: id, context: context)
    }
  }

  fileprivate func verifyOCRA(
    _ code: String, for request: OCRARequest, with id: ItemID, context: AuthenticationContext?
  ) async throws(VaultError) -> OTPAcceptance {
    try await asking(context) { core, context throws(VaultError) in
      try core.verifyOCRA(code, for: request, with: id, context: context)
    }
  }

  fileprivate func setOCRACounter(
    of id: ItemID, to counter: UInt64, force: Bool, context: AuthenticationContext?
  ) async throws(VaultError) {
    try await asking(context) { core, context throws(VaultError) in
      try core.setCounter(of: id, to: counter, force: force, context: context)
    }
  }
}
