public import SecretMemory
public import VaultFormat
package import VaultCrypto

/// A session in which a person views card data: 32 secret bytes that the caller keeps, and that the vault never stores. A
/// card token of a session opens only with them, because they are a part of its key. Copies share one place in memory.
public struct ViewingSession: Sendable {
  package let secret: SharedSecret

  /// A new session.
  ///
  /// - Throws: ``VaultError/Code/io`` when the random generator fails.
  public static func fresh() throws(VaultError) -> ViewingSession { try fresh(random: SystemRandom()) }

  package static func fresh(random: any RandomSource) throws(VaultError) -> ViewingSession {
    ViewingSession(secret: SharedSecret(try random.newSecret(byteCount)))
  }

  private init(secret: SharedSecret) { self.secret = secret }

  /// A session with these bytes, which nobody else can guess.
  ///
  /// - Parameter bytes: Exactly 32 bytes.
  /// - Throws: ``VaultError/Code/malformed`` for another number of bytes.
  public init(_ bytes: consuming SecretBytes) throws(VaultError) {
    guard bytes.byteCount == Self.byteCount else {
      throw VaultError(.malformed, "a session has 32 bytes", hint: "give all of them, as they were made")
    }
    secret = SharedSecret(bytes)
  }

  /// A copy of the bytes, for the caller to keep.
  public var bytes: SecretBytes { secret.bytes.copy() }

  /// What the policy of a token holds of the session.
  package var hash: [UInt8] { TokenLife.hash(ofSession: secret.bytes) }

  private static let byteCount = 32
}
