public import VaultKit
package import VaultCrypto

/// A client key that is open: it signs without a further transaction, prompt or entry in the log, any number of times.
///
/// The key is in memory until this value ends, also while the vault is locked; it is wiped then. Keep the value only as long
/// as the work that the person agreed to.
public struct Signer: ~Copyable, Sendable {
  /// The public half.
  public let publicKey: PublicKey
  package let key: SigningKey

  init(_ key: consuming SigningKey, publicKey: PublicKey) {
    self.publicKey = publicKey
    self.key = key
  }

  /// The signature of `message`.
  ///
  /// - Throws: ``VaultError/Code/io`` if the library of ciphers fails.
  public func sign(_ message: RawSpan, as form: SignatureForm = .raw) throws(VaultError) -> [UInt8] {
    do throws(CryptoError) { return try key.sign(message, as: form.scheme(of: key.type)) } catch {
      throw VaultError(crypto: error)
    }
  }

  /// The signature of `message`.
  ///
  /// - Throws: ``VaultError/Code/io`` if the library of ciphers fails.
  public func sign(_ message: [UInt8], as form: SignatureForm = .raw) throws(VaultError) -> [UInt8] {
    try unsafe sign(message.span.bytes, as: form)
  }
}
