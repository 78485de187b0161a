package import SecretMemory
import VaultCrypto
package import VaultKit
import VaultLogging

/// Client keys on the synchronous core. ``ClientKey`` offers the same on the actor.
extension VaultCore {
  /// Makes a key. RSA takes up to some seconds, outside of every transaction.
  package func generateClientKey(
    _ type: ClientKeyType, _ new: NewClientKey, context: AuthenticationContext? = nil
  ) throws(VaultError) -> ClientKeyDescription {
    try permitKey(new, context: context)
    let key: SigningKey
    do throws(CryptoError) { key = try SigningKey.generate(type.signing, random: environment.random) } catch {
      throw VaultError(crypto: error)
    }
    return try add(key, new, certificates: [], context: context)
  }

  /// Stores the key of a file, with its certificates.
  ///
  /// - Parameter passphrase: Opens the file; `nil` if it needs none or an empty one.
  package func importClientKey(
    _ file: KeyFile, passphrase: SharedSecret? = nil, _ new: NewClientKey,
    context: AuthenticationContext? = nil
  ) throws(VaultError) -> ClientKeyDescription {
    try permitKey(new, context: context)
    let imported = try file.opened(passphrase)
    return try add(imported.key, new, certificates: imported.certificates, context: context)
  }

  /// A key without its private half. Needs no unlocked vault.
  package func describeClientKey(of id: ItemID) throws(VaultError) -> ClientKeyDescription {
    var transaction = try beginReading()
    let item = try transaction.item(id)
    transaction.end()
    return try ClientKeyItem(item).description()
  }

  /// A key without its private half. Needs no unlocked vault.
  package func describeClientKey(named name: String) throws(VaultError) -> ClientKeyDescription {
    try ClientKeyItem(item(named: name)).description()
  }

  /// The client keys, in the order of insertion. Keys of programs, which have their own form, are left out.
  package func listClientKeys() throws(VaultError) -> [ClientKeyDescription] {
    var found: [ClientKeyDescription] = []
    for item in try items(matching: Query(.key))
    where item.attributes[.subjectPublicKeyInfo] != nil {
      found.append(try ClientKeyItem(item).description())
    }
    return found
  }

  /// Opens a key for signatures. The entry in the log, where the item asks for one, is durable before this returns.
  ///
  /// - Parameters:
  ///   - action: What is signed, as a verb phrase for the person; `nil` for the usual words.
  ///   - context: Verifies the person if the key has constraints.
  /// - Throws: ``VaultError/Code/itemNotFound``, ``VaultError/Code/locked``, ``VaultError/Code/damaged`` if the attributes of the
  ///   item show another public half.
  package func signer(
    of id: ItemID, to action: String? = nil, context: AuthenticationContext? = nil
  ) throws(VaultError) -> Signer {
    let opened = try opened(id, to: action ?? "sign", context: context)
    return try opened.stored.signer(opened.pkcs8)
  }

  /// Lends an open key: the gate has decided, and the entry in the log is durable. No lock is held meanwhile.
  ///
  /// - Throws: As ``signer(of:to:context:)``, and what `body` throws.
  package func withSigner<R: ~Copyable>(
    of id: ItemID, to action: String? = nil, context: AuthenticationContext? = nil,
    _ body: (borrowing Signer) throws -> R
  ) throws -> R {
    let signer = try signer(of: id, to: action, context: context)
    return try body(signer)
  }

  /// A key that the gate has opened, after the entry in the log.
  private func opened(
    _ id: ItemID, to action: String, context: AuthenticationContext?
  ) throws(VaultError) -> OpenedClientKey {
    var transaction = try beginReading(.secret(.use, of: id, by: .key), to: action, context: context) {
      (look) throws(VaultError) in _ = try ClientKeyItem(look.item(id))
    }
    let stored = try ClientKeyItem(transaction.item(id))
    let secret = try transaction.useSecret(of: stored.item, by: .key)
    transaction.end()
    VaultLog.debug(.authCrypto, "opened the key of item \(id)")
    // A plain signature writes nothing, so that it works on a medium that cannot be written.
    if stored.item.audit == .all || stored.item.access.word != 0 {
      var transaction = try beginWriting()
      try transaction.log(secret.notes)
      try transaction.log(.keySigned, item: stored.item)
      try transaction.commit()
    }
    return OpenedClientKey(stored: stored, pkcs8: secret.intoSecret())
  }

  /// Refuses before the work what could not be stored after it.
  private func permitKey(_ new: NewClientKey, context: AuthenticationContext?) throws(VaultError) {
    try ItemLimits.check(name: new.name)
    var item = NewItem(.key, name: new.name, access: new.access, audit: new.audit)
    item.isExportable = new.isExportable
    try permitAdding(item, by: .key, context: context)
  }

  private func add(
    _ key: borrowing SigningKey, _ new: NewClientKey, certificates: [[UInt8]],
    context: AuthenticationContext?
  ) throws(VaultError) -> ClientKeyDescription {
    let (publicKey, secret): (PublicKey, SharedSecret)
    do throws(CryptoError) {
      (publicKey, secret) = (try PublicKey(key.publicKey), SharedSecret(try key.exportPKCS8()))
    } catch { throw VaultError(keyFile: error == .invalidKey ? .unsupportedKey : .failed(error)) }
    do throws(VaultError) {
      let item = try add(
        new.item(of: publicKey, certificates: certificates), secret: secret.bytes.copy(), by: .key,
        context: context)
      return ClientKeyDescription(item: item, publicKey: publicKey, certificates: certificates)
    } catch {
      guard error.code == .duplicateItem,
        let name = try? listClientKeys().first(where: { $0.publicKey == publicKey })?.item.name
      else { throw error }
      throw VaultError(.duplicateItem, "the vault has this key already, as '\(VisibleText.escaped(name))'")
    }
  }
}

/// A key between the gate and its use.
private struct OpenedClientKey: ~Copyable {
  let stored: ClientKeyItem
  let pkcs8: SecretBytes
}

extension ClientKeyItem {
  /// - Throws: ``VaultError/Code/damaged`` if the secret is not the private half of what the attributes show.
  fileprivate func signer(_ pkcs8: borrowing SecretBytes) throws(VaultError) -> Signer {
    do throws(CryptoError) {
      let key = try SigningKey(pkcs8: pkcs8)
      let publicKey = try PublicKey(key.publicKey)
      guard publicKey.subjectPublicKeyInfo == subjectPublicKeyInfo else { throw .invalidKey }
      return Signer(key, publicKey: publicKey)
    } catch {
      guard error == .invalidKey else { throw VaultError(crypto: error) }
      throw Self.damaged
    }
  }
}
