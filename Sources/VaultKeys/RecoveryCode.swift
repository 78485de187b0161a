public import VaultFormat
public import SecretMemory
package import VaultCrypto
package import VaultStorage
import TextPreparation

/// A second opener of the root key: 128 random bits that are shown once. Only a public half stays in the vault.
///
/// Written as eight groups of four Base32 characters joined by dashes; the last 32 bits are a checksum.
public struct RecoveryCode: ~Copyable, Sendable {
  private let bits: SecretBytes
  /// How it reached the vault; nil for a code that was just made.
  package var shown: Shown?

  package static func fresh(random: any RandomSource) throws(VaultError) -> RecoveryCode {
    RecoveryCode(bits: try random.newSecret(16))
  }

  private init(bits: consuming SecretBytes) { self.bits = bits }

  /// Reads a code as typed: case, spaces and dashes do not matter.
  ///
  /// - Throws: ``VaultError/Code/malformed`` when it is not a recovery code or was mistyped.
  public init(text: borrowing SecretBytes) throws(VaultError) {
    guard let bits = WrittenBits.bits(of: text, checkedBy: Labels.recoveryCheck) else {
      throw VaultError(
        .malformed, "that is not a recovery code", hint: "it is eight groups of four letters and digits")
    }
    self.bits = bits
    shown = .given
  }

  /// The text to show once: 39 ASCII characters.
  public var text: SecretBytes { WrittenBits.text(of: bits, checkedBy: Labels.recoveryCheck) }

  /// Whether the typed text is the last two groups of the code; case, spaces and dashes do not matter.
  package func endsWith(_ typed: borrowing SecretBytes) -> Bool {
    let end = text.expose { Self.letters(of: SecretBytes(copying: $0.extracting(30..<39))) }
    let shown = Self.letters(of: typed)
    return shown.isEqualInConstantTime(to: end)
  }

  /// The characters of a code, in upper case.
  private static func letters(of text: borrowing SecretBytes) -> SecretBytes {
    var letters = TypedCode.characters(of: text)
    unsafe letters.modify { letters in
      for index in letters.indices where unsafe UInt8(ascii: "a")...UInt8(ascii: "z") ~= letters[index] {
        unsafe letters[index] -= 32
      }
    }
    return letters
  }

  /// Compares with the public half of a vault.
  ///
  /// - Throws: ``VaultError/Code/authenticationFailed`` for another vault's code.
  package func check(isOf half: [UInt8]) throws(VaultError) {
    guard isEqualInConstantTime(try publicKey(), half) else { throw Self.isAnother }
  }

  package static var isAbsent: VaultError { VaultError(.policy, "this vault has no recovery code") }

  package static var isAnother: VaultError {
    VaultError(.authenticationFailed, "this recovery code does not belong to this vault")
  }

  /// The half that stays in the header.
  package func publicKey() throws(VaultError) -> [UInt8] { try pair().publicKey }

  /// Opens the recovery slot of a generation's root key.
  package func openRoot(of generation: UInt32, in slots: [SlotRow], vault: VaultID) throws(VaultError)
    -> SecretBytes
  {
    let address = SlotAddress(.root, generation: generation, opener: .recovery)
    guard let slot = slots.first(where: { SlotAddress($0) == address }) else {
      throw Self.isAbsent
    }
    let pair = try pair()
    guard slot.body.count > 32 else { throw VaultError(.damaged, "the recovery slot is damaged") }
    let ephemeral = Array(slot.body[..<32])
    do throws(CryptoError) {
      let shared = try X25519KeyPair.sharedSecret(private: pair.privateKey, public: ephemeral)
      let key = HKDF.derive(
        from: shared, info: Labels.recoveryWrap.utf8 + ephemeral + pair.publicKey, byteCount: 32)
      return try CommittingSeal.open(
        Array(slot.body[32...]), under: key, label: Labels.sealSlot,
        aad: AssociatedData.slot(vault, address, layer: 1, derivation: nil))
    } catch .commitmentMismatch {
      throw Self.isAnother
    } catch { throw VaultError(crypto: error) }
  }

  /// The body of a recovery slot, made with the public half alone.
  package static func sealRoot(
    _ root: borrowing SecretBytes, for publicKey: [UInt8], at address: SlotAddress, vault: VaultID,
    random: any RandomSource
  ) throws(VaultError) -> [UInt8] {
    do throws(CryptoError) {
      let ephemeral = try X25519KeyPair.generate(random: random)
      let shared = try X25519KeyPair.sharedSecret(private: ephemeral.privateKey, public: publicKey)
      let key = HKDF.derive(
        from: shared, info: Labels.recoveryWrap.utf8 + ephemeral.publicKey + publicKey, byteCount: 32)
      return try ephemeral.publicKey
        + CommittingSeal.seal(
          root, under: key, label: Labels.sealSlot,
          aad: AssociatedData.slot(vault, address, layer: 1, derivation: nil), random: random)
    } catch { throw VaultError(crypto: error) }
  }

  private func pair() throws(VaultError) -> X25519KeyPair {
    let scalar = HKDF.derive(from: bits, label: Labels.recovery)
    do throws(CryptoError) { return try X25519KeyPair(privateKey: scalar) } catch {
      throw VaultError(crypto: error)
    }
  }
}
