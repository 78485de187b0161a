public import SecretMemory
public import VaultKit

/// A login: a person has shown a PIN or its biokey, and no code was revealed.
public struct Login: Sendable, Equatable {
  /// The PIN item.
  public let item: ItemID
  /// The name of the login: that of the peer, or without a peer the number of its entry in the audit log.
  public let id: String
  /// How many more wrong PINs are judged.
  public let attemptsLeft: Int
  /// Whether the file had been copied or restored since the last PIN, so that its count of wrong PINs may be too low. In a
  /// vault with a passcode, the person has shown the passcode too.
  public let wasMarked: Bool
}

/// What a person shows for a login.
@nonexhaustive
public enum LoginFactor: String, Sendable, CaseIterable {
  /// The PIN.
  case pin
  /// The biokey of the PIN.
  case biometry

  var factors: PINFactors { self == .pin ? .current : .biometric }
}

extension PINItem {
  /// Whether there is a PIN item of this name, also a blocked one: ``status()`` tells. Asks no person, also in a locked vault.
  public static func isSet(
    named name: String = NewPINItem(.checked).name, in vault: Vault
  ) async throws(VaultError) -> Bool {
    try await vault.isPINSet(name)
  }

  /// Judges the PIN, or the biokey in its place, and records a login.
  ///
  /// **Enforced** as ``verify(context:)``.
  ///
  /// - Parameters:
  ///   - factor: What the person shows.
  ///   - data: What the login is bound to, such as a number of the program: the SHA-256 of it is in the audit entry, which
  ///     the device key opens. `nil` for nothing.
  ///   - context: Gives the PIN or opens the biokey.
  /// - Throws: As ``verify(context:)``; for a biokey as ``OTPCredential/nextCode(by:context:)``.
  public func logIn(
    by factor: LoginFactor = .pin, data: consuming SecretBytes? = nil, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> Login {
    let (id, data) = (id, shared(data))
    return try await vault.asking(context) { core, context throws(VaultError) in
      try core.logIn(id, by: factor, data: data, context: context)
    }
  }

  /// Judges the PIN, or the biokey in its place, and has the peer of a credential behind it name the login.
  ///
  /// The peer gets a code of the credential, which is not revealed here. A wrong PIN is an error before the peer is asked.
  ///
  /// - Parameters:
  ///   - credential: A credential behind this PIN that the peer has activated.
  ///   - transport: The way to the peer. Another one than that of the activation asks for the passcode of the vault first.
  ///   - factor: What the person shows.
  ///   - data: What the login is bound to, 1 to 4,096 bytes; `nil` for nothing. With a suite it is the question, and
  ///     required.
  ///   - context: Gives the PIN or opens the biokey.
  /// - Throws: As ``verify(context:)`` and ``OTPCredential/onlineCode(over:context:)``; ``VaultError/Code/policy`` for a
  ///   credential that is not behind this PIN, and for a factor that the peer does not take.
  public func logIn(
    with credential: ItemID, over transport: any Transport, by factor: LoginFactor = .pin,
    data: consuming SecretBytes? = nil, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> Login {
    let (id, data) = (id, shared(data))
    return try await vault.waiting(context) { core, context throws(VaultError) in
      try core.logIn(id, with: credential, over: transport, by: factor, data: data, context: context)
    }
  }
}

private func shared(_ secret: consuming SecretBytes?) -> SharedSecret? {
  guard let secret = consume secret else { return nil }
  return SharedSecret(secret)
}

extension Vault {
  fileprivate func isPINSet(_ name: String) throws(VaultError) -> Bool { try core.isPINSet(name) }
}
