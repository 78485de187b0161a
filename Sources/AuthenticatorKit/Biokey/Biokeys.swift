public import VaultKit

/// The biokeys of one PIN.
public struct Biokeys: Sendable {
  private let pin: PINItem

  /// The biokeys that can replace this PIN.
  public init(of pin: PINItem) { self.pin = pin }

  /// Registers a biokey with the PIN. It replaces the one that there was.
  ///
  /// - Parameters:
  ///   - new: Whom it knows, and how it is listed.
  ///   - context: Gives the PIN, and the passcode of a locked vault. The members are not asked.
  /// - Throws: ``VaultError/Code/policy`` for a camouflaged PIN, which nothing here can check, in a vault without a passcode,
  ///   and without a biometric member; ``VaultError/Code/duplicateItem``, ``VaultError/Code/locked``; what
  ///   ``PINItem/verify(context:)`` throws.
  public func register(
    _ new: NewBiokey = NewBiokey(), context: AuthenticationContext? = nil
  ) async throws(VaultError) -> RegisteredBiokey {
    let id = pin.id
    return try await pin.vault.asking(context) { core, context throws(VaultError) in
      try core.registerBiokey(new, for: id, context: context)
    }
  }

  /// The biokeys of the PIN. Asks no person, also in a locked vault.
  public func list() async throws(VaultError) -> [Biokey] { try await pin.vault.biokeys(of: pin.id) }

  /// The biokeys of all PINs of a vault, in the order of their registration. Asks no person, also in a locked vault.
  public static func list(in vault: Vault) async throws(VaultError) -> [Biokey] {
    try await vault.biokeys(of: nil)
  }

  /// Deletes the biokeys of the PIN, with the PIN. Codes then need the PIN again.
  ///
  /// - Parameter context: Gives the PIN, and the passcode of a locked vault.
  /// - Returns: How many there were.
  /// - Throws: ``VaultError/Code/policy`` for a camouflaged PIN; what ``PINItem/verify(context:)`` throws.
  @discardableResult
  public func resetAll(context: AuthenticationContext? = nil) async throws(VaultError) -> Int {
    let id = pin.id
    return try await pin.vault.asking(context) { core, context throws(VaultError) in
      try core.resetBiokeys(of: id, context: context)
    }
  }
}

extension Vault {
  fileprivate func biokeys(of pin: ItemID?) throws(VaultError) -> [Biokey] { try core.biokeys(of: pin) }
}
