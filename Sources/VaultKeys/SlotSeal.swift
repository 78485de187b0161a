package import VaultFormat
package import SecretMemory
package import VaultCrypto
package import VaultStorage

/// Sealing and opening of slots: 32-byte keys behind one layer or two.
package struct SlotSeal: Sendable {
  package let vault: VaultID
  package let random: any RandomSource

  /// Seals in one layer. If a derivation is named, the layer's key comes from what a person typed.
  package func seal(
    _ key: borrowing SecretBytes, at address: SlotAddress, under outer: borrowing SecretBytes,
    derivation: KeyDerivation? = nil
  ) throws(VaultError) -> [UInt8] {
    try layer(1, of: key, at: address, under: outer, derivation: derivation)
  }

  /// Seals in two layers: the inner key comes from what a person types, the outer key is stored.
  ///
  /// - Parameter derivation: How the inner key was derived from what a person typed; `nil` for an inner key of another
  ///   origin.
  package func seal(
    _ key: borrowing SecretBytes, at address: SlotAddress, under outer: borrowing SecretBytes,
    inside inner: borrowing SecretBytes, derivation: KeyDerivation?
  ) throws(VaultError) -> [UInt8] {
    let sealed = try layer(2, of: key, at: address, under: inner, derivation: derivation)
    return try layer(1, of: SecretBytes(copying: sealed), at: address, under: outer, derivation: nil)
  }

  /// The key behind one layer. Content of any length but 32 bytes is not a key.
  package func open(
    _ row: SlotRow, at address: SlotAddress, under outer: borrowing SecretBytes,
    derivation: KeyDerivation? = nil
  ) throws(CryptoError) -> SecretBytes {
    let key = try outerContent(row.body, at: address, under: outer, derivation: derivation)
    guard key.byteCount == 32 else { throw .malformed }
    return key
  }

  /// The key behind two layers; `.commitmentMismatch` means that the inner key is wrong, and so what was typed.
  package func open(
    _ row: SlotRow, at address: SlotAddress, under outer: borrowing SecretBytes,
    inside inner: borrowing SecretBytes, derivation: KeyDerivation?
  ) throws(CryptoError) -> SecretBytes {
    let sealed = try innerContent(row, at: address, under: outer)
    let key = try CommittingSeal.open(
      sealed, under: inner, label: Labels.sealSlot,
      aad: AssociatedData.slot(vault, address, layer: 2, derivation: derivation?.encoded))
    guard key.byteCount == 32 else { throw .malformed }
    return key
  }

  /// The key behind one layer, for callers that have no more precise error.
  package func key(
    in row: SlotRow, at address: SlotAddress, under outer: borrowing SecretBytes
  ) throws(VaultError) -> SecretBytes {
    do throws(CryptoError) { return try open(row, at: address, under: outer) } catch {
      throw VaultError(crypto: error)
    }
  }

  /// The key behind two layers, as above.
  package func key(
    in row: SlotRow, at address: SlotAddress, under outer: borrowing SecretBytes,
    inside inner: borrowing SecretBytes, derivation: KeyDerivation?
  ) throws(VaultError) -> SecretBytes {
    do throws(CryptoError) {
      return try open(row, at: address, under: outer, inside: inner, derivation: derivation)
    } catch { throw VaultError(crypto: error) }
  }

  /// The content of the outer layer of a slot with two layers: still sealed, so public.
  private func innerContent(
    _ row: SlotRow, at address: SlotAddress, under outer: borrowing SecretBytes
  ) throws(CryptoError) -> [UInt8] {
    do throws(CryptoError) {
      return try outerContent(row.body, at: address, under: outer).expose { $0.array }
    } catch { throw error == .commitmentMismatch ? .tagMismatch : error }
  }

  // MARK: Wrapped to a member

  /// The private half of a factor, wrapped to the public half of a member: `E ‖ seal1`, then the outer layer.
  package func wrap(
    _ key: borrowing SecretBytes, to member: [UInt8], at address: SlotAddress,
    under outer: borrowing SecretBytes
  ) throws(VaultError) -> [UInt8] {
    let content: [UInt8]
    do throws(CryptoError) {
      let ephemeral = try X25519KeyPair.generate(random: random)
      let shared = try X25519KeyPair.sharedSecret(private: ephemeral.privateKey, public: member)
      let wrapping = Self.memberWrapping(shared, ephemeral: ephemeral.publicKey, member: member)
      content =
        try ephemeral.publicKey
        + CommittingSeal.seal(
          key, under: wrapping, label: Labels.sealSlot,
          aad: AssociatedData.slot(vault, address, layer: 2, derivation: nil), random: random)
    } catch { throw VaultError(crypto: error) }
    return try layer(1, of: SecretBytes(copying: content), at: address, under: outer, derivation: nil)
  }

  /// The key that ``wrap(_:to:at:under:)`` sealed.
  package func unwrap(
    _ row: SlotRow, at address: SlotAddress, under outer: borrowing SecretBytes,
    by privateHalf: borrowing SecretBytes, of member: [UInt8]
  ) throws(VaultError) -> SecretBytes {
    do throws(CryptoError) {
      return try unwrapped(row, at: address, under: outer, by: privateHalf, of: member)
    } catch { throw VaultError(crypto: error) }
  }

  private func unwrapped(
    _ row: SlotRow, at address: SlotAddress, under outer: borrowing SecretBytes,
    by privateHalf: borrowing SecretBytes, of member: [UInt8]
  ) throws(CryptoError) -> SecretBytes {
    let content = try innerContent(row, at: address, under: outer)
    guard content.count > 32 else { throw .malformed }
    let ephemeral = Array(content[..<32])
    let shared = try X25519KeyPair.sharedSecret(private: privateHalf, public: ephemeral)
    let key = try CommittingSeal.open(
      Array(content[32...]), under: Self.memberWrapping(shared, ephemeral: ephemeral, member: member),
      label: Labels.sealSlot,
      aad: AssociatedData.slot(vault, address, layer: 2, derivation: nil))
    guard key.byteCount == 32 else { throw .malformed }
    return key
  }

  private static func memberWrapping(
    _ shared: borrowing SecretBytes, ephemeral: [UInt8], member: [UInt8]
  ) -> SecretBytes {
    HKDF.derive(from: shared, info: Labels.memberWrap.utf8 + ephemeral + member, byteCount: 32)
  }

  /// The content of the outer layer of a slot, for callers that have no more precise error.
  package func outerLayer(
    of row: SlotRow, at address: SlotAddress, under outer: borrowing SecretBytes
  ) throws(VaultError) -> SecretBytes {
    do throws(CryptoError) { return try outerContent(row.body, at: address, under: outer) } catch {
      throw VaultError(crypto: error)
    }
  }

  /// What the outer layer holds: a key, or the inner layer.
  package func outerContent(
    _ body: [UInt8], at address: SlotAddress, under outer: borrowing SecretBytes,
    derivation: KeyDerivation? = nil
  ) throws(CryptoError) -> SecretBytes {
    try CommittingSeal.open(
      body, under: outer, label: Labels.sealSlot,
      aad: AssociatedData.slot(vault, address, layer: 1, derivation: derivation?.encoded))
  }

  private func layer(
    _ number: UInt8, of content: borrowing SecretBytes, at address: SlotAddress,
    under key: borrowing SecretBytes, derivation: KeyDerivation?
  ) throws(VaultError) -> [UInt8] {
    let aad = AssociatedData.slot(vault, address, layer: number, derivation: derivation?.encoded)
    do throws(CryptoError) {
      return try CommittingSeal.seal(content, under: key, label: Labels.sealSlot, aad: aad, random: random)
    } catch { throw VaultError(crypto: error) }
  }
}
