package import SecretMemory
import VaultCrypto
package import VaultFormat

/// A checked PIN wraps `D`, 32 random bytes, to which the keys of the items behind it are wrapped (section 11).
extension PINRecord {
  /// The record of a new PIN.
  ///
  /// - Parameters:
  ///   - secret: `D`, which a change keeps.
  ///   - new: The key of the PIN.
  ///   - item: The PIN item.
  ///   - unlockKey: A second opener of `D`, for a new PIN item.
  ///   - old: The record that this one replaces. Its unlock key stays.
  package static func wrapping(
    _ secret: borrowing SecretBytes, under new: NewPINKey, of item: ItemID, vault: VaultID,
    unlockKey: PINUnlockKey? = nil, replacing old: PINRecord? = nil, environment: VaultEnvironment
  ) throws(VaultError) -> PINRecord {
    let sealed = try seal(secret, under: new.key.bytes, of: item, vault: vault, environment: environment)
    var unlock: [UInt8]?
    if let unlockKey {
      unlock = try seal(secret, under: unlockKey.sealKey(), of: item, vault: vault, environment: environment)
    }
    return try .checked(new.derivation, sealed: sealed, unlock: unlock, replacing: old)
  }

  private static func seal(
    _ secret: borrowing SecretBytes, under key: borrowing SecretBytes, of item: ItemID, vault: VaultID,
    environment: VaultEnvironment
  ) throws(VaultError) -> [UInt8] {
    do throws(CryptoError) {
      return try CommittingSeal.seal(
        secret, under: key, label: Labels.sealPIN, aad: AssociatedData.pin(vault, item: item),
        random: environment.random)
    } catch { throw VaultError(crypto: error) }
  }

  /// `D`, by the unlock key.
  ///
  /// - Throws: ``VaultError/Code/policy`` without an unlock key, ``VaultError/Code/authenticationFailed`` for another one.
  package func unwrapped(
    by unlockKey: PINUnlockKey, of item: ItemID, vault: VaultID
  ) throws(VaultError) -> SharedSecret {
    guard hasUnlockKey else {
      throw VaultError(
        .policy, "the PIN item has no unlock key",
        hint: "have the servers make new secrets, and enroll them behind a new PIN item")
    }
    let aad = AssociatedData.pin(vault, item: item)
    let key = unlockKey.sealKey()
    do throws(CryptoError) {
      let secret = try withUnlockSeal { (sealed) throws(CryptoError) in
        try CommittingSeal.open(sealed, under: key, label: Labels.sealPIN, aad: aad)
      }
      guard secret.byteCount == 32 else { throw .malformed }
      return SharedSecret(secret)
    } catch .commitmentMismatch {
      throw VaultError(.authenticationFailed, "this unlock key does not belong to this PIN item")
    } catch { throw VaultError(crypto: error) }
  }

  /// `D`. Runs one derivation: the attempt must be on the disk before.
  ///
  /// - Parameter prepared: Made by ``derivation``.
  /// - Throws: ``VaultError/Code/authenticationFailed`` for a wrong PIN.
  package func unwrapped(
    by digits: borrowing SecretBytes, _ prepared: consuming PreparedDerivation, of item: ItemID,
    vault: VaultID
  ) throws(VaultError) -> SharedSecret {
    let key = HKDF.derive(from: prepared.key(from: digits), label: Labels.pin)
    let aad = AssociatedData.pin(vault, item: item)
    do throws(CryptoError) {
      let secret = try withSealed { (sealed) throws(CryptoError) in
        try CommittingSeal.open(sealed, under: key, label: Labels.sealPIN, aad: aad)
      }
      guard secret.byteCount == 32 else { throw .malformed }
      return SharedSecret(secret)
    } catch .commitmentMismatch {
      throw VaultError(.authenticationFailed, "wrong PIN")
    } catch { throw VaultError(crypto: error) }
  }
}

/// The key of a new checked PIN.
package struct NewPINKey: Sendable {
  fileprivate let derivation: KeyDerivation
  fileprivate let key: SharedSecret

  /// Runs one derivation.
  package init(_ pin: borrowing PIN, in environment: VaultEnvironment) throws(VaultError) {
    derivation = try .fresh(environment.parameters, random: environment.random)
    let derived = try derivation.derive(from: pin.bytes, as: .newPIN, in: environment)
    key = SharedSecret(HKDF.derive(from: derived, label: Labels.pin))
  }
}
