import VaultCrypto

/// The name of one token (`jti`): 128 random bits, 22 characters.
enum TokenID {
  /// - Throws: ``JOSEError/library(_:)`` if the random generator fails.
  static func make(_ random: some RandomSource) throws(JOSEError) -> String {
    do throws(CryptoError) { return Base64URL.text(try random.bytes(16)) } catch {
      throw .library(CryptoFailure(error))
    }
  }
}
