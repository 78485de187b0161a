public import SecretMemory
import VaultCrypto

/// The hash value of a PIN or password, which both parties of a suite with `P` know (RFC 6287 §5.1).
///
/// It is a secret: whoever has it can try all PINs. A server can store it instead of the PIN.
public struct OCRAPINHash: ~Copyable, Sendable {
  /// The hash function.
  public let algorithm: OTPAlgorithm
  let bytes: SecretBytes

  /// The hash value of a PIN.
  ///
  /// - Parameters:
  ///   - pin: The bytes as the person typed them, 1 or more.
  ///   - algorithm: ``OCRASuite/pinHash`` of the suite.
  /// - Throws: ``OTPError/Code/invalidInput`` for an empty PIN.
  public init(of pin: borrowing SecretBytes, algorithm: OTPAlgorithm) throws(OTPError) {
    guard pin.byteCount > 0 else { throw .invalidInput(.pinHash) }
    self.algorithm = algorithm
    self.bytes = algorithm.hash.hash(pin)
  }

  /// A hash value that was stored.
  ///
  /// - Parameters:
  ///   - hash: 20, 32 or 64 bytes, as many as the hash function has.
  ///   - algorithm: The hash function.
  /// - Throws: ``OTPError/Code/invalidInput`` for another length.
  public init(hash: consuming SecretBytes, algorithm: OTPAlgorithm) throws(OTPError) {
    guard hash.byteCount == algorithm.hash.digestByteCount else { throw .invalidInput(.pinHash) }
    self.algorithm = algorithm
    self.bytes = hash
  }
  /// Whether both are one hash value, in a time that does not depend on where they differ.
  public func isEqualInConstantTime(to other: borrowing OCRAPINHash) -> Bool {
    algorithm == other.algorithm && bytes.isEqualInConstantTime(to: other.bytes)
  }
}
