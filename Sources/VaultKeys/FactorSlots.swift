package import VaultFormat
package import SecretMemory
package import VaultCrypto
package import VaultStorage

/// The private halves of the factors, which open with what a person presents (section 5). The header must be
/// authenticated.
package struct FactorSlots: Sendable {
  package let header: Header
  package let slots: [SlotRow]
  package let keys: GenerationKeys
  private let seal: SlotSeal

  package init(header: Header, slots: [SlotRow], keys: GenerationKeys, random: any RandomSource) {
    self.header = header
    self.slots = slots
    self.keys = keys
    seal = SlotSeal(vault: header.vault, random: random)
  }

  package func enrolledSet() throws(VaultError) -> EnrolledSet { try keys.enrolledSet(of: header) }

  /// The private half of passcode, presence or any, opened by the passcode. Only enrollment opens `any` this way.
  ///
  /// - Throws: ``VaultError/Code/busy`` if another process has changed the passcode, so that these slots and the
  ///   passcode's keys do not belong together. Nothing is damaged then.
  package func half(of factor: Factor, by passcode: PasscodeKeys) throws(VaultError) -> SharedSecret {
    guard header.passcodeDerivation == passcode.derivation else {
      throw VaultError(.busy, "the passcode was changed by another process meanwhile", hint: "try again")
    }
    let slot = try slot(of: factor) { $0.opener == .prompt }
    return try checked(
      seal.key(
        in: slot.row, at: slot.address, under: slot.outer.bytes, inside: passcode.prompt,
        derivation: passcode.derivation),
      of: factor)
  }

  /// A member's own half.
  ///
  /// - Parameters:
  ///   - root: The key derived from the phrase; `nil` for a member whose half has only the outer layer.
  /// - Returns: `nil` for another phrase.
  package func half(of member: Member, phrase root: SharedSecret?) throws(VaultError) -> SharedSecret? {
    let slot = try slot(of: member.factor) { $0.opener == .member && $0.openerID == member.id }
    guard let root else {
      return try checked(
        seal.key(in: slot.row, at: slot.address, under: slot.outer.bytes), of: member.factor)
    }
    let key = Self.memberKey(root.bytes, id: member.id)
    let half: SecretBytes
    do throws(CryptoError) {
      half = try seal.open(
        slot.row, at: slot.address, under: slot.outer.bytes, inside: key, derivation: header.phraseDerivation)
    } catch .commitmentMismatch {
      return nil
    } catch { throw VaultError(crypto: error) }
    return try checked(half, of: member.factor)
  }

  /// The private half of `any` or of a set, opened by a member; of presence, by the login password.
  package func half(of factor: Factor, by member: Member, _ own: SharedSecret) throws(VaultError)
    -> SharedSecret
  {
    guard let half = header.factors[member.factor] else { throw Self.damaged }
    let slot = try slot(of: factor) { $0.opener == .member && $0.openerID == member.id }
    return try checked(
      seal.unwrap(slot.row, at: slot.address, under: slot.outer.bytes, by: own.bytes, of: half), of: factor)
  }

  /// The private half of presence, opened by that of `any`.
  package func presence(by any: SharedSecret) throws(VaultError) -> SharedSecret {
    let slot = try slot(of: .presence) { $0.opener == .any }
    return try checked(
      seal.key(
        in: slot.row, at: slot.address, under: slot.outer.bytes, inside: any.bytes, derivation: nil),
      of: .presence)
  }

  /// The key that a phrase gives a member.
  package static func memberKey(_ root: borrowing SecretBytes, id: [UInt8]) -> SecretBytes {
    HKDF.derive(from: root, info: Labels.member.utf8 + id, byteCount: 32)
  }

  /// A slot of a factor with the outer key that opens it.
  private struct Slot {
    let address: SlotAddress
    let row: SlotRow
    let outer: SharedSecret
  }

  private func slot(
    of factor: Factor, where isRight: (SlotAddress) -> Bool
  ) throws(VaultError) -> Slot {
    for row in slots {
      guard let address = SlotAddress(row), address.kind == .factor, address.subject == factor.rawValue,
        isRight(address)
      else { continue }
      return Slot(address: address, row: row, outer: try keys.slotKey(for: address))
    }
    throw Self.damaged
  }

  /// The private half must match the public half in the header.
  private func checked(_ half: consuming SecretBytes, of factor: Factor) throws(VaultError) -> SharedSecret {
    let publicHalf: [UInt8]
    do throws(CryptoError) { publicHalf = try X25519KeyPair(privateKey: half.copy()).publicKey } catch {
      throw VaultError(crypto: error)
    }
    guard publicHalf == header.factors[factor] else { throw Self.damaged }
    return SharedSecret(half)
  }

  private static var damaged: VaultError {
    VaultError(
      .damaged, "the vault's keys were altered or are damaged", hint: "restore the vault file from a backup")
  }
}
