package import SecretMemory
package import VaultCrypto
package import VaultFormat

/// A camouflaged PIN (section 11): it masks secrets, and nothing in the vault tells a right one from a wrong one.
///
/// Masking is not sealing: it has no tag, and a wrong mask gives a wrong secret. The masked secret is inside the seal of
/// its item.
package enum CamouflagedPIN {
  /// The digits that are derived from, as many as an offset has.
  package static let digitCount = 6

  /// Uniform digits, 0–9 each.
  ///
  /// - Throws: ``VaultError/Code/io`` when the random generator fails.
  package static func freshOffset(_ random: any RandomSource) throws(VaultError) -> [UInt8] {
    let digits = try SecretBytes.characters(digitCount, of: Array(0...9), from: random.newSecret)
    return digits.expose { $0.array }
  }

  /// The key of the masks: from the PIN, filled with 0 on the right, plus the offset, digit by digit. Runs one derivation.
  package static func key(
    of pin: borrowing SecretBytes, offset: [UInt8], by derivation: KeyDerivation,
    environment: VaultEnvironment
  ) throws(VaultError) -> SharedSecret {
    var digits = filled(pin)
    unsafe digits.modify { bytes in
      for index in 0..<digitCount { unsafe bytes[index] = (bytes[index] + offset[index]) % 10 + zero }
    }
    return SharedSecret(try derivation.derive(from: digits, as: .pin, in: environment))
  }

  /// The offset under which a new PIN gives the digits that the old one gives: `offset + old − new`.
  package static func offset(
    _ offset: [UInt8], changing old: borrowing SecretBytes, to new: borrowing SecretBytes
  ) -> [UInt8] {
    let old = filled(old)
    let new = filled(new)
    return old.expose { old in
      new.expose { new in
        (0..<digitCount).map { (offset[$0] + old.byte(at: $0) + 10 - new.byte(at: $0)) % 10 }
      }
    }
  }

  /// Whether two PINs have the same mask: zeros on the right do not count.
  package static func isEqual(_ pin: borrowing SecretBytes, to other: borrowing SecretBytes) -> Bool {
    filled(pin).isEqualInConstantTime(to: filled(other))
  }

  /// `secret` with the mask of an item, or without it if it had it before.
  ///
  /// - Parameter key: As ``key(of:offset:by:environment:)`` gives it.
  package static func masked(
    _ secret: borrowing SecretBytes, by key: SharedSecret, of item: ItemID, vault: VaultID
  ) -> SecretBytes {
    let info = Labels.camouflage.utf8 + vault.bytes + item.bytes
    var mask = HKDF.derive(from: key.bytes, info: info, byteCount: secret.byteCount)
    unsafe mask.modify { mask in
      secret.expose { secret in
        for index in 0..<secret.byteCount { unsafe mask[index] ^= secret.byte(at: index) }
      }
    }
    return mask
  }

  /// The values of the digits, 0–9 each.
  private static func filled(_ pin: borrowing SecretBytes) -> SecretBytes {
    var digits = SecretBytes(zeroes: digitCount)
    unsafe digits.modify { digits in
      pin.expose { pin in
        for index in 0..<min(digitCount, pin.byteCount) { unsafe digits[index] = pin.byte(at: index) - zero }
      }
    }
    return digits
  }

  private static let zero = UInt8(ascii: "0")
}
