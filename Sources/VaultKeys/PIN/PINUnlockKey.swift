public import SecretMemory
package import VaultCrypto
public import VaultFormat

/// A second opener of a checked PIN item: 128 random bits that are shown once and stored nowhere. It sets a new PIN, also
/// when the PIN is blocked or forgotten. Whoever has it and the vault needs no PIN, so keep it like a recovery code.
///
/// Written as eight groups of four Base32 characters joined by dashes; the last 32 bits are a checksum. Copies share one
/// place in memory.
public struct PINUnlockKey: Sendable {
  private let bits: SharedSecret

  /// A new key.
  ///
  /// - Throws: ``VaultError/Code/io`` when the random generator fails.
  public static func fresh() throws(VaultError) -> PINUnlockKey { try fresh(random: SystemRandom()) }

  package static func fresh(random: any RandomSource) throws(VaultError) -> PINUnlockKey {
    PINUnlockKey(bits: SharedSecret(try random.newSecret(16)))
  }

  private init(bits: SharedSecret) { self.bits = bits }

  /// The key with these 16 bytes.
  package init(_ bytes: SharedSecret) {
    precondition(bytes.byteCount == 16, "PINUnlockKey.init: 16 bytes")
    bits = bytes
  }

  /// Its 16 bytes.
  package var bytes: SharedSecret { bits }

  /// Reads a key as typed: case, spaces and dashes do not matter.
  ///
  /// - Throws: ``VaultError/Code/malformed`` when it is not an unlock key or was mistyped.
  public init(text: borrowing SecretBytes) throws(VaultError) {
    guard let bits = WrittenBits.bits(of: text, checkedBy: Labels.pinUnlockCheck) else {
      throw VaultError(
        .malformed, "that is not an unlock key of a PIN",
        hint: "it is eight groups of four letters and digits")
    }
    self.bits = SharedSecret(bits)
  }

  /// The text to show once: 39 ASCII characters.
  public var text: SecretBytes { WrittenBits.text(of: bits.bytes, checkedBy: Labels.pinUnlockCheck) }

  /// The key of the seal in the PIN item.
  func sealKey() -> SecretBytes { HKDF.derive(from: bits.bytes, label: Labels.pinUnlock) }
}
