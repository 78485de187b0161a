public import VaultKit

// Read in this order:
//
// - `PINItem`, `NewPINItem`, `PINStatus` and `VerifiedPIN`: what an application uses, on the actor `Vault`.
// - `VaultCore+PIN.swift`: the same on the synchronous core. `VaultCore+ShowingPIN.swift`: how a PIN is asked for and
//   judged; the attempt is on disk before its derivation. `ShownPIN`: what the commit of a use writes.
//   `VaultCore+GuardedCredentials.swift`: credentials that a PIN may guard.
// - Below, in VaultKeys: `PINAttempts`, `PINRecord+Checked.swift` and `CamouflagedPIN`.

/// A PIN and everything behind it: any number of credentials that make codes only with this PIN.
///
/// ```swift
/// let pin = try await PINItem.make(NewPINItem(.checked), in: vault, context: context)
/// var new = NewOTPCredential(.hotp(counter: 0), name: "bank")
/// new.pin = pin
/// let credential = try await OTPCredential.enroll(new, key: key, in: vault, context: context)
/// print(try await credential.nextCode(context: context).code)     // asks for the PIN
/// ```
///
/// A ``PINMode/checked`` PIN is judged here, and blocked after too many wrong ones. Nothing here can judge a
/// ``PINMode/camouflaged`` PIN: a wrong one makes a wrong code, and the server counts.
public struct PINItem: Sendable, Identifiable {
  /// The item that stores it.
  public let id: ItemID
  let vault: Vault

  /// Makes a PIN item.
  ///
  /// A checked PIN is a new PIN, given to the context in advance or typed twice. A camouflaged item is made without a
  /// PIN: the PIN of each credential is given, or typed twice, when the credential is enrolled.
  ///
  /// - Parameters:
  ///   - new: Everything but the PIN.
  ///   - vault: The vault that stores it, unlocked or with a passcode that the context can give.
  ///   - context: Gives the new PIN.
  /// - Throws: ``VaultError/Code/pinRefused`` for a PIN that has the wrong form, is among the first that a thief tries, or
  ///   is the passcode that the context was given; ``VaultError/Code/duplicateItem``, ``VaultError/Code/policy``,
  ///   ``VaultError/Code/malformed``, ``VaultError/Code/locked``.
  public static func make(
    _ new: NewPINItem, in vault: Vault, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> PINItem {
    let id = try await vault.asking(context) { core, context throws(VaultError) in
      try core.makePIN(new, context: context).id
    }
    return PINItem(id: id, vault: vault)
  }

  /// The PIN item with this name.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``, also if the item is of another kind.
  public init(named name: String, in vault: Vault) async throws(VaultError) {
    self.init(id: try await vault.pinItem(.name(name)), vault: vault)
  }

  /// The PIN item with this identifier.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``, also if the item is of another kind.
  public init(id: ItemID, in vault: Vault) async throws(VaultError) {
    self.init(id: try await vault.pinItem(.id(id)), vault: vault)
  }

  init(id: ItemID, vault: Vault) {
    self.id = id
    self.vault = vault
  }

  /// All PIN items of a vault, in the order in which they were made. Asks no person, also in a locked vault.
  public static func list(in vault: Vault) async throws(VaultError) -> [PINStatus] {
    try await vault.pinStatuses(of: nil)
  }

  /// How it is now. Asks no person, also in a locked vault. Takes as long as a list of all items.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``.
  public func status() async throws(VaultError) -> PINStatus {
    guard let status = try await vault.pinStatuses(of: id).first else { throw .noPIN }
    return status
  }

  /// Judges the PIN, and reveals nothing else.
  ///
  /// **Enforced by key derivation**, and the limit by this library: a person with the vault file and the device key can
  /// try all PINs.
  ///
  /// - Parameter context: Gives the PIN.
  /// - Throws: ``VaultError/Code/authenticationFailed`` with `attemptsLeft`, ``VaultError/Code/blocked``,
  ///   ``VaultError/Code/pinRefused`` for a wrong form, which is no attempt; ``VaultError/Code/policy`` for a camouflaged
  ///   PIN, ``VaultError/Code/locked``.
  public func verify(context: AuthenticationContext? = nil) async throws(VaultError) -> VerifiedPIN {
    let id = id
    return try await vault.asking(context) { core, context throws(VaultError) in
      try core.verifyPIN(id, context: context)
    }
  }

  /// Changes the PIN, for all credentials behind it in one commit.
  ///
  /// A checked PIN: the old one no longer works, except in old copies of the file. A camouflaged PIN: nothing can judge the
  /// old PIN, so the change is pending until ``confirm(context:)``, and ``undo(context:)`` takes it back. Codes are made
  /// with the new PIN at once. The old PIN of a further change is the one that was confirmed last.
  ///
  /// - Parameters:
  ///   - keepingBiokeys: Whether the biokeys of a checked PIN stay. By default the same commit deletes them.
  ///   - context: Gives the PIN and the new PIN.
  /// - Throws: As ``verify(context:)`` for a checked PIN; ``VaultError/Code/pinReused``, ``VaultError/Code/pinRefused``;
  ///   ``VaultError/Code/busy`` if another process has changed it meanwhile.
  public func change(
    keepingBiokeys: Bool = false, context: AuthenticationContext? = nil
  ) async throws(VaultError) {
    let id = id
    try await vault.asking(context) { core, context throws(VaultError) in
      try core.changePIN(id, keepingBiokeys: keepingBiokeys, context: context)
    }
  }

  /// Sets a new PIN with the unlock key that the item was made with, and ends a block. The old PIN no longer works, except
  /// in old copies of the file.
  ///
  /// - Parameters:
  ///   - key: The unlock key.
  ///   - keepingBiokeys: Whether the biokeys of the PIN stay. By default the same commit deletes them.
  ///   - context: Gives the new PIN, and the passcode of a locked vault.
  /// - Throws: ``VaultError/Code/authenticationFailed`` for the unlock key of another item, ``VaultError/Code/policy`` if
  ///   the item has none or is camouflaged, ``VaultError/Code/pinRefused``, ``VaultError/Code/locked``,
  ///   ``VaultError/Code/busy`` if another process has changed the PIN meanwhile.
  public func unlock(
    with key: PINUnlockKey, keepingBiokeys: Bool = false, context: AuthenticationContext? = nil
  ) async throws(VaultError) {
    let id = id
    try await vault.asking(context) { core, context throws(VaultError) in
      try core.unlockPIN(id, with: key, keepingBiokeys: keepingBiokeys, context: context)
    }
  }

  /// Takes back a change of a camouflaged PIN that was not confirmed.
  ///
  /// - Parameter context: Gives the passcode of a locked vault.
  /// - Throws: ``VaultError/Code/policy`` for a checked PIN, or without such a change; ``VaultError/Code/locked``.
  public func undo(context: AuthenticationContext? = nil) async throws(VaultError) {
    let id = id
    try await vault.asking(context) { core, context throws(VaultError) in
      try core.undoPINChange(id, context: context)
    }
  }

  /// Records that the server accepted a code made with a camouflaged PIN. A pending change is then final.
  ///
  /// - Parameter context: Gives the passcode of a locked vault.
  /// - Throws: ``VaultError/Code/policy`` for a checked PIN, and if no code was made since a pending change;
  ///   ``VaultError/Code/locked``.
  public func confirm(context: AuthenticationContext? = nil) async throws(VaultError) {
    let id = id
    try await vault.asking(context) { core, context throws(VaultError) in
      try core.confirmPIN(id, context: context)
    }
  }
}

extension Vault {
  fileprivate func pinItem(_ target: ItemTarget) throws(VaultError) -> ItemID {
    guard let item = try core.items(target).first else { throw .noPIN }
    try item.refuseUnlessPIN()
    return item.id
  }

  fileprivate func pinStatuses(of id: ItemID?) throws(VaultError) -> [PINStatus] {
    try core.pinStatuses(of: id)
  }
}

extension VaultError {
  fileprivate static var noPIN: VaultError { VaultError(.itemNotFound, "there is no such PIN item") }
}
