public import SecretMemory
import TextFormats
import TextPreparation
import VaultCrypto
public import VaultKit

/// A file with one private key that another program made, as it was read: PKCS#12, PKCS#8 with or without a passphrase, PKCS#1
/// or SEC 1, DER or PEM, or a key of OpenSSH without a passphrase.
///
/// The file is foreign: it is parsed in secret memory, and refused before anything is derived from its passphrase if that would
/// take more than 10,000,000 iterations. Refused are also: encryption by RC2, DES, scrypt or bcrypt, more than one key, keys of
/// other kinds than ``ClientKeyType``, keys whose parts do not belong together or whose public half gives them away,
/// certificates of another key, and PKCS#12 without a MAC.
public struct KeyFile: Sendable {
  private let content: Content
  /// DER, from a PEM.
  private let certificates: [[UInt8]]

  private enum Content: Sendable {
    case der(SharedSecret, KeyFiles.Structure)
    case openSSH(SharedSecret)
  }

  /// The most bytes of a file.
  public static var longest: Int { 1 << 20 }

  /// Finds out what a file is. Nothing is decrypted.
  ///
  /// - Throws: ``VaultError/Code/malformed`` for a file without a private key, or with several; ``VaultError/Code/unsupported``
  ///   for a PEM that is encrypted in the old way of OpenSSL.
  public init(_ bytes: consuming SecretBytes) throws(VaultError) {
    guard bytes.byteCount <= Self.longest else {
      throw VaultError(.malformed, "a file with a key has at most 1 MiB")
    }
    if let structure = bytes.expose({ KeyFiles.structure(of: $0) }) {
      content = .der(SharedSecret(bytes), structure)
      certificates = []
      return
    }
    let text: SecretBytes
    do throws(TextLine.Fault) { text = try TextLine.unmarked(bytes) } catch {
      throw VaultError(.malformed, error.message("the file"), hint: TextLine.Fault.hint)
    }
    let blocks = try text.expose { (text) throws(VaultError) in
      do throws(TextError) { return try PEMBlock.blocks(in: text) } catch {
        throw VaultError(keyFile: .malformed)
      }
    }
    content = try Self.content(of: blocks)
    certificates = blocks.filter { Self.certificateLabels.contains($0.label) }.map {
      $0.content.expose { $0.array }
    }
  }

  /// Whether a passphrase opens it. That of PKCS#12 can be empty: such a file is imported without one.
  public var needsPassphrase: Bool {
    switch content {
    case .der(_, let structure): structure.needsPassphrase
    case .openSSH: false
    }
  }

  /// Whether it is PKCS#12 under an empty passphrase, as its MAC says.
  ///
  /// - Throws: What ``KeyFile`` refuses before it derives anything.
  package func hasEmptyPassphrase() throws(VaultError) -> Bool {
    guard case .der(let bytes, .pkcs12) = content else { return false }
    do throws(KeyFileError) { return try KeyFiles.hasEmptyPassphrase(bytes.bytes) } catch {
      throw VaultError(keyFile: error)
    }
  }

  /// The key, whose parts belong together. Most programs encrypt with a passphrase as it was typed, others with its prepared form:
  /// both are tried.
  func opened(_ passphrase: SharedSecret?) throws(VaultError) -> ImportedKey {
    do throws(VaultError) { return try opened(exactly: passphrase) } catch {
      guard error.code == .authenticationFailed, let passphrase,
        let prepared = try? TextPreparation.opaque(passphrase.bytes)
      else { throw error }
      return try opened(exactly: SharedSecret(prepared))
    }
  }

  private func opened(exactly passphrase: SharedSecret?) throws(VaultError) -> ImportedKey {
    do throws(KeyFileError) {
      switch content {
      case .der(let bytes, let structure):
        return try KeyFiles.open(
          bytes.bytes, as: structure, passphrase: passphrase, certificates: certificates)
      case .openSSH(let bytes):
        return try KeyFiles.openOpenSSH(bytes.bytes, certificates: certificates)
      }
    } catch { throw VaultError(keyFile: error) }
  }

  /// The one block with a private key.
  private static func content(of blocks: [PEMBlock]) throws(VaultError) -> Content {
    let keys = blocks.filter { $0.label.hasSuffix("PRIVATE KEY") }
    guard let key = keys.first else {
      throw VaultError(keyFile: blocks.isEmpty ? .malformed : .noKey)
    }
    guard keys.count == 1 else { throw VaultError(keyFile: .severalKeys(keys.count)) }
    guard !key.hasHeaders else { throw VaultError(keyFile: .unsupportedEncryption) }
    switch key.label {
    case "PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY": return .der(key.content, .privateKey)
    case "ENCRYPTED PRIVATE KEY": return .der(key.content, .encryptedPKCS8)
    case "OPENSSH PRIVATE KEY": return .openSSH(key.content)
    default: throw VaultError(keyFile: .unsupportedKey)
    }
  }

  private static let certificateLabels: Set<String> = ["CERTIFICATE", "X509 CERTIFICATE"]
}

extension VaultError {
  init(keyFile error: KeyFileError) {
    let convert = Hint.convertKeyFile
    self =
      switch error {
      case .malformed:
        VaultError(
          .malformed, "the file is damaged, or is not one with a private key",
          hint: "give a file of PKCS#12, PKCS#8, PKCS#1, SEC 1 or OpenSSH")
      case .wrongPassphrase: VaultError(.authenticationFailed, "the passphrase does not open the file")
      case .passphraseNeeded:
        VaultError(
          .verificationNeeded, "the file is encrypted, and its passphrase was not given",
          hint: "give the passphrase")
      case .unsupportedEncryption:
        VaultError(
          .unsupported, "the file is encrypted in a way that is too weak or not known here", hint: convert)
      case .tooManyIterations:
        VaultError(
          .policy, "the file asks for more than 10,000,000 iterations before it opens", hint: convert)
      case .withoutMAC:
        VaultError(.policy, "the file has no MAC, so nothing shows that it is whole", hint: convert)
      case .nestedBags:
        VaultError(.unsupported, "the file has bags within bags, which are not read", hint: convert)
      case .noKey: VaultError(.malformed, "the file has no private key")
      case .severalKeys(let count):
        VaultError(
          .malformed, "the file has \(count) private keys, and one is stored at a time",
          hint: "write each into a file of its own")
      case .unsupportedKey:
        VaultError(
          .unsupported, "the key is of a kind or a size that is not supported",
          hint: "use P-256, P-384, Ed25519, or RSA of 2,048, 3,072 or 4,096 bits")
      case .inconsistentKey:
        VaultError(.malformed, "the parts of the key do not belong together")
      case .weakKey:
        VaultError(
          .malformed,
          "the public half of the key gives its factors away: they are close to each other, or of a flawed generator (ROCA)",
          hint: "make another key")
      case .foreignCertificates:
        VaultError(
          .malformed, "none of the certificates in the file is of its key",
          hint: "leave them out, or add the one of the key")
      case .tooManyCertificates:
        VaultError(.malformed, "the file has more than \(KeyFiles.mostCertificates) certificates")
      case .failed(let error): VaultError(crypto: error)
      }
  }
}
