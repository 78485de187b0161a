import SecretMemory
import Synchronization
package import VaultCrypto

extension SigningKey {
  /// A key for a test that needs some key of its type: of RSA, the same one in the whole process, since making one takes
  /// up to seconds; of other types, a new one.
  ///
  /// - Parameter name: Another name gives another key.
  package static func forTest(
    _ type: SigningKeyType, named name: String = "mine"
  ) throws(CryptoError) -> SigningKey {
    guard type.isRSA else { return try generate(type, random: SystemRandom()) }
    let structure = try keysOfRSA.withLock { (keys) throws(CryptoError) in
      if let key = keys["\(type) \(name)"] { return key }
      let made = SharedSecret(try generate(type, random: SystemRandom()).exportPKCS8())
      keys["\(type) \(name)"] = made
      return made
    }
    return try SigningKey(pkcs8: structure.bytes)
  }
}

/// PKCS#8 structures.
private let keysOfRSA = Mutex<[String: SharedSecret]>([:])
