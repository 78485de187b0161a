public import SecretMemory
public import VaultKit

// The front page of client keys. Read in this order:
//
// - `ClientKey`: what an application uses, on the actor `Vault`. `ClientKeyType` and `SignatureForm` are the choices.
// - `PublicKey`: the public half, which is published and verifies. `PublicKey+Formats.swift`: as PEM, JWK, SSH key and pin.
// - `KeyFile`: keys of other programs.
// - `VaultCore+ClientKey.swift`: the same on the synchronous core. `Signer`: a key that is open.
// - `ClientKeyItem`: how a key is stored in the attributes of its item.

/// A key in a vault that signs: for DPoP, client assertions, mutual TLS, or any data.
///
/// ```swift
/// let key = try await ClientKey.generate(.p256, NewClientKey(name: "shop"), in: vault)
/// let signature = try await key.sign(Array("message".utf8))
/// try key.publicKey.verify(signature, of: Array("message".utf8))
/// ```
///
/// The private key is made here or comes from a ``KeyFile``, and signs inside the vault. It is
/// not exportable unless ``NewClientKey/isExportable`` says so.
public struct ClientKey: Sendable {
  /// The item that stores the key.
  public let id: ItemID
  /// The public half. It is read from the attributes of the item, which the device key alone can change: a signature is made
  /// only if it is the half of the private key.
  public let publicKey: PublicKey
  let vault: Vault

  /// What kind of key it is.
  public var type: ClientKeyType { publicKey.type }

  /// Makes a key. RSA takes up to some seconds.
  ///
  /// - Parameters:
  ///   - type: What kind of key.
  ///   - new: Its name and rules.
  ///   - vault: The vault that stores it.
  ///   - context: Gives the passcode of a locked vault, and the application password if the access rule asks for one.
  /// - Throws: ``VaultError/Code/duplicateItem``, ``VaultError/Code/locked``, ``VaultError/Code/malformed`` for the name.
  public static func generate(
    _ type: ClientKeyType, _ new: NewClientKey, in vault: Vault, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> ClientKey {
    ClientKey(try await vault.generate(type, new, context: context), vault: vault)
  }

  /// Stores the key of a file, with its certificates. The caller deletes the file.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - passphrase: Opens it, UTF-8; `nil` where ``KeyFile/needsPassphrase`` is false, and for PKCS#12 under an empty
  ///     passphrase.
  ///   - new: The name and the rules of the key.
  ///   - vault: The vault that stores it.
  ///   - context: As for ``generate(_:_:in:context:)``.
  /// - Throws: ``VaultError/Code/authenticationFailed`` for a wrong passphrase; ``VaultError/Code/verificationNeeded`` where one
  ///   is needed; ``VaultError/Code/malformed``, ``VaultError/Code/unsupported`` or ``VaultError/Code/policy`` for a file that
  ///   ``KeyFile`` refuses; ``VaultError/Code/duplicateItem`` also if the vault has the same key under another name.
  public static func importing(
    _ file: KeyFile, passphrase: consuming SecretBytes? = nil, _ new: NewClientKey, in vault: Vault,
    context: AuthenticationContext? = nil
  ) async throws(VaultError) -> ClientKey {
    var box: SharedSecret?
    if let passphrase = consume passphrase { box = SharedSecret(passphrase) }
    let made = try await vault.importKey(file, passphrase: box, new, context: context)
    return ClientKey(made, vault: vault)
  }

  /// The key with this name. Needs no unlocked vault.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``, also if the item is no key; ``VaultError/Code/unsupported`` for a key that a
  ///   program stored in its own form.
  public static func named(_ name: String, in vault: Vault) async throws(VaultError) -> ClientKey {
    ClientKey(try await vault.describeKey(name), vault: vault)
  }

  /// The key that an item stores. Needs no unlocked vault.
  ///
  /// - Throws: As ``named(_:in:)``.
  public init(id: ItemID, in vault: Vault) async throws(VaultError) {
    self.init(try await vault.describeKey(id), vault: vault)
  }

  /// The client keys of a vault, in the order in which they were stored. Needs no unlocked vault.
  public static func list(in vault: Vault) async throws(VaultError) -> [ClientKeyDescription] {
    try await vault.listKeys()
  }

  private init(_ description: ClientKeyDescription, vault: Vault) {
    (id, publicKey) = (description.item.id, description.publicKey)
    self.vault = vault
  }

  /// The item, the public half and the certificates as they are now.
  public func describe() async throws(VaultError) -> ClientKeyDescription { try await vault.describeKey(id) }

  /// The signature of `message`. A key without constraints, whose audit policy is ``AuditPolicy/changes``, writes nothing.
  ///
  /// - Parameters:
  ///   - message: What is signed, of any length.
  ///   - form: How an ECDSA signature is written.
  ///   - context: Verifies the person if the key has constraints; gives the passcode of a locked vault.
  /// - Throws: ``VaultError/Code/locked``, ``VaultError/Code/itemNotFound``, ``VaultError/Code/verificationNeeded`` without a
  ///   context, ``VaultError/Code/damaged`` if ``publicKey`` of the item is not the half of the private key.
  public func sign(
    _ message: [UInt8], as form: SignatureForm = .raw, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> [UInt8] {
    let signer = try await signer(context: context)
    return try signer.sign(message, as: form)
  }

  /// The key, open for many signatures. One entry in the log stands for all of them.
  ///
  /// - Throws: As ``sign(_:as:context:)``.
  public func signer(context: AuthenticationContext? = nil) async throws(VaultError) -> Signer {
    try await vault.signer(of: id, context: context)
  }
}

extension Vault {
  fileprivate func generate(
    _ type: ClientKeyType, _ new: NewClientKey, context: AuthenticationContext?
  ) async throws(VaultError) -> ClientKeyDescription {
    try await waiting(context) { core, context throws(VaultError) in
      try core.generateClientKey(type, new, context: context)
    }
  }

  fileprivate func importKey(
    _ file: KeyFile, passphrase: SharedSecret?, _ new: NewClientKey, context: AuthenticationContext?
  ) async throws(VaultError) -> ClientKeyDescription {
    try await waiting(context) { core, context throws(VaultError) in
      try core.importClientKey(file, passphrase: passphrase, new, context: context)
    }
  }

  fileprivate func describeKey(_ name: String) throws(VaultError) -> ClientKeyDescription {
    try core.describeClientKey(named: name)
  }

  fileprivate func describeKey(_ id: ItemID) throws(VaultError) -> ClientKeyDescription {
    try core.describeClientKey(of: id)
  }

  fileprivate func listKeys() throws(VaultError) -> [ClientKeyDescription] { try core.listClientKeys() }

  fileprivate func signer(
    of id: ItemID, context: AuthenticationContext?
  ) async throws(VaultError) -> Signer {
    try await asking(context) { core, context throws(VaultError) in
      try core.signer(of: id, context: context)
    }
  }
}
