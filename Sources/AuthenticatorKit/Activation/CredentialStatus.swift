public import VaultKit

/// What the device key alone shows of a credential and its server. No person is asked for it.
public struct CredentialStatus: Sendable, Identifiable {
  /// The item.
  public let id: ItemID
  /// The vault-wide name.
  public let name: String
  /// The state, after its deadline and together with the PIN.
  public let state: CredentialState
  /// Whether the PIN is blocked, so that only an unlock with a PIN ends it.
  public let isPINBlocked: Bool
  /// Seconds until the activation, the unlock, or the activation that replaces a disabled credential ends; otherwise `nil`.
  public let secondsLeft: UInt64?
  /// Whether the unlock that is under way ends with a new PIN instead of the current one.
  public let unlockNeedsNewPIN: Bool
  /// Whether an activation is under way that will replace this disabled credential.
  public let isBeingReplaced: Bool
  /// Which factors make a code, as the server said; `nil` without a server.
  public let factors: PINFactors?
  /// Whether the server keeps an unlock key of the PIN.
  public let keepsUnlockKey: Bool
  /// The service, the account and the issuer, as the person or the server named them.
  public let service: String?
  /// The account at the service.
  public let account: String?
  /// Who accepts the codes.
  public let issuer: String?
  /// The transport through which it was activated; `nil` without a server. Advisory: the device key alone can change it.
  public let transport: String?
  /// The PIN item that guards it; `nil` without one.
  public let pin: ItemID?
  /// Its device credential; `nil` without one.
  public let deviceCredential: ItemID?

  /// The status of the credential of this name. Records a deadline that has passed.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``; ``VaultError/Code/expired`` once for an activation whose deadline has
  ///   passed, which is deleted by that.
  public static func named(_ name: String, in vault: Vault) async throws(VaultError) -> CredentialStatus {
    try await vault.credentialStatus(named: name)
  }

  /// The status of the credential that an item stores.
  ///
  /// - Throws: As ``named(_:in:)``.
  public static func of(_ id: ItemID, in vault: Vault) async throws(VaultError) -> CredentialStatus {
    try await vault.credentialStatus(of: id)
  }

  /// Ends the use of a credential on this device, with the server: it is disabled here after the server agreed, with its
  /// device credential. Only a new activation ends this.
  ///
  /// - Parameters:
  ///   - id: The credential.
  ///   - evenIfUnknown: Whether the credential is disabled here also where the server does not know it.
  ///   - transport: The way to the server.
  ///   - vault: The vault that stores it.
  ///   - context: Gives the passcode if the credential was activated through another transport.
  /// - Throws: ``VaultError/Code/policy`` for a credential without a server, ``VaultError/Code/wrongState`` for an activation
  ///   that is not complete, ``VaultError/Code/network``, what the transport throws.
  public static func disable(
    _ id: ItemID, evenIfUnknown: Bool = false, over transport: any Transport, in vault: Vault,
    context: AuthenticationContext? = nil
  ) async throws(VaultError) {
    try await vault.waiting(context) { core, context throws(VaultError) in
      try core.disableCredential(id, evenIfUnknown: evenIfUnknown, over: transport, context: context)
    }
  }

  init(
    _ item: Item, state: CredentialState, isPINBlocked: Bool, secondsLeft: UInt64, isBeingReplaced: Bool
  ) {
    let attributes = item.attributes
    id = item.id
    name = item.name ?? item.id.hexadecimal
    self.state = state
    self.isPINBlocked = isPINBlocked
    self.isBeingReplaced = isBeingReplaced
    self.secondsLeft = [.started, .unlockStarted].contains(state) || isBeingReplaced ? secondsLeft : nil
    unlockNeedsNewPIN = state == .unlockStarted && attributes[.unlockPINMode] == 2
    factors = attributes[.peerPINMode].flatMap { Int(exactly: $0) }.map(PINFactors.init(rawValue:))
    keepsUnlockKey = attributes[.keepsUnlockKey] ?? false
    (service, account, issuer) = (attributes[.service], attributes[.account], attributes[.issuer])
    transport = attributes[.transport]
    pin = item.policy.guardingPINItem
    deviceCredential = item.isActivation ? nil : attributes[.credential].flatMap(ItemID.init)
  }
}

extension Vault {
  fileprivate func credentialStatus(named name: String) throws(VaultError) -> CredentialStatus {
    try core.credentialStatus(named: name)
  }

  fileprivate func credentialStatus(of id: ItemID) throws(VaultError) -> CredentialStatus {
    try core.credentialStatus(of: id)
  }
}
