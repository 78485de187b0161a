public import SecretMemory
public import VaultKit

// Read in this order:
//
// - `Activation`, `NewActivation`, `ActivatedCredential`, `CredentialStatus` and `CredentialUnlock`: what an
//   application uses, on the actor `Vault`.
// - `CredentialEvent.swift`: which state follows. `EffectiveState.swift`: the state now, after deadlines, and with the PIN.
// - `VaultCore+StartingActivation.swift`, `VaultCore+FinishingActivation.swift` and `ActivationAnswers.swift`: the two steps
//   on the synchronous core, and what is accepted of a peer. `VaultCore+CredentialStatus.swift`: status, and disabling.
// - `VaultCore+StartingUnlock.swift`, `VaultCore+FinishingUnlock.swift` and `VaultCore+UnlockingNewPIN.swift`: the way out
//   of a block, by the server.

/// The activation of a credential with a server, in two steps.
///
/// ```swift
/// let activation = try await Activation.start(
///   NewActivation("bank"), code: firstCode, over: transport, in: vault, context: context)
/// let pin = try await PINItem.make(NewPINItem(.checked), in: vault, context: context)
/// let activated = try await activation.finish(code: secondCode, pin: pin, over: transport, context: context)
/// let credential = try await OTPCredential(id: activated.credential, in: vault)
/// ```
///
/// The server, the *peer*, judges both codes; nothing about a code is stored here. Between the steps the vault keeps a secret
/// of the activation, and no key of codes.
public struct Activation: Sendable {
  /// The value of ``Attribute/otpType`` before the type is known.
  static let type: Int64 = 5

  /// The name of the credential that is activated.
  public let name: String
  private let vault: Vault

  /// The activation of the credential of this name, which was started before, perhaps by another process. Whether it is
  /// under way, ``status()`` says.
  public init(of name: String, in vault: Vault) { (self.name, self.vault) = (name, vault) }

  /// Starts an activation. It can be finished until its deadline, which the server sets (300 s if it does not), on the clock
  /// since boot. A start of the same name again, and one of a disabled credential, replace what is there; a disabled
  /// credential stays until the end of the new activation.
  ///
  /// - Parameters:
  ///   - new: What the person says about the credential.
  ///   - code: The activation code, 1 to 1,024 bytes, as the person typed it.
  ///   - transport: The way to the server. It is stored with the credential.
  ///   - vault: The vault that stores it.
  ///   - context: Gives the passcode of a locked vault.
  /// - Throws: ``VaultError/Code/authenticationFailed`` if the server refuses the code; ``VaultError/Code/duplicateItem`` if
  ///   an item has the name, ``VaultError/Code/malformed``, ``VaultError/Code/policy``, ``VaultError/Code/locked``;
  ///   ``VaultError/Code/network`` for an answer that is none; what the transport throws. Nothing is stored then.
  public static func start(
    _ new: NewActivation, code: consuming SecretBytes, over transport: any Transport, in vault: Vault,
    context: AuthenticationContext? = nil
  ) async throws(VaultError) -> Activation {
    let code = SharedSecret(code)
    _ = try await vault.waiting(context) { core, context throws(VaultError) in
      try core.startActivation(new, code: code, over: transport, context: context)
    }
    return Activation(of: new.name, in: vault)
  }

  /// Finishes the activation: the credential is active when this returns, behind its PIN.
  ///
  /// A checked PIN is judged before the server is asked. A camouflaged PIN is typed twice, and **nothing can check it**. The
  /// mode that the server gave says whether a PIN guards the credential, and it decides which factors make its codes.
  ///
  /// - Parameters:
  ///   - code: The second code, 1 to 1,024 bytes, as the person typed it.
  ///   - pin: The PIN that is to guard the credential, if the mode has one.
  ///   - unlockKey: The unlock key of that PIN item, if it was made for this activation. A server that keeps such keys gets
  ///     it, and can then let the person set a new PIN.
  ///   - transport: The way to the server.
  ///   - context: Gives the PIN, and the passcode of a locked vault.
  /// - Throws: ``VaultError/Code/authenticationFailed`` for a wrong PIN, with `attemptsLeft`, and if the server refuses the
  ///   code: then the activation is deleted. ``VaultError/Code/expired`` after the deadline: then too. Every other error
  ///   leaves it: ``VaultError/Code/wrongState`` if none is under way, ``VaultError/Code/policy`` with a PIN that does not
  ///   fit, ``VaultError/Code/blocked``, ``VaultError/Code/network``, what the transport throws.
  public func finish(
    code: consuming SecretBytes, pin: PINItem? = nil, unlockKey: PINUnlockKey? = nil,
    over transport: any Transport, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> ActivatedCredential {
    let (name, code, pin) = (name, SharedSecret(code), pin.map { ChosenPIN.stored($0.id) })
    return try await vault.waiting(context) { core, context throws(VaultError) in
      try core.finishActivation(
        named: name, code: code, pin: pin, unlockKey: unlockKey, over: transport, context: context)
    }
  }

  /// How the credential of this name is now. Asks no person, also in a locked vault.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``; ``VaultError/Code/expired`` once if the deadline has passed, and the
  ///   activation is deleted by that.
  public func status() async throws(VaultError) -> CredentialStatus {
    try await CredentialStatus.named(name, in: vault)
  }
}

/// A credential that was just activated.
public struct ActivatedCredential: Sendable, Equatable {
  /// The item of the credential, for ``OTPCredential/init(id:in:)`` or ``OCRACredential/init(id:in:)``.
  public let credential: ItemID
  /// `hotp`, `totp` or `ocra`.
  public let type: String
  /// The credential of this device, which needs no PIN; `nil` if the server gave none.
  public let deviceCredential: ItemID?
}
