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
    return try checked(factor) { address, row, outer throws(VaultError) in
      try seal.key(
        in: row, at: address, under: outer, inside: passcode.prompt, derivation: passcode.derivation)
    } at: {
      $0.opener == .prompt
    }
  }

  /// A member's own half.
  ///
  /// - Parameters:
  ///   - root: The key derived from the phrase; `nil` for a member whose half has only the outer layer.
  /// - Returns: `nil` for another phrase.
  package func half(of member: Member, phrase root: SharedSecret?) throws(VaultError) -> SharedSecret? {
    guard let root else {
      return try checked(member.factor) { address, row, outer throws(VaultError) in
        try seal.key(in: row, at: address, under: outer)
      } at: {
        $0.opener == .member && $0.openerID == member.id
      }
    }
    let key = Self.memberKey(root.bytes, id: member.id)
    let derivation = header.phraseDerivation
    var isWrong = false
    do throws(VaultError) {
      return try checked(member.factor) { address, row, outer throws(VaultError) in
        do throws(CryptoError) {
          return try seal.open(row, at: address, under: outer, inside: key, derivation: derivation)
        } catch {
          isWrong = error == .commitmentMismatch
          throw VaultError(crypto: error)
        }
      } at: {
        $0.opener == .member && $0.openerID == member.id
      }
    } catch {
      if isWrong { return nil }
      throw error
    }
  }

  /// The private half of `any` or of a set, opened by a member; of presence, by the login password.
  package func half(of factor: Factor, by member: Member, _ own: SharedSecret) throws(VaultError)
    -> SharedSecret
  {
    guard let half = header.factors[member.factor] else { throw Self.damaged }
    return try checked(factor) { address, row, outer throws(VaultError) in
      try seal.unwrap(row, at: address, under: outer, by: own.bytes, of: half)
    } at: {
      $0.opener == .member && $0.openerID == member.id
    }
  }

  /// The private half of presence, opened by that of `any`.
  package func presence(by any: SharedSecret) throws(VaultError) -> SharedSecret {
    try checked(.presence) { address, row, outer throws(VaultError) in
      try seal.key(in: row, at: address, under: outer, inside: any.bytes, derivation: nil)
    } at: {
      $0.opener == .any
    }
  }

  /// The key that a phrase gives a member.
  package static func memberKey(_ root: borrowing SecretBytes, id: [UInt8]) -> SecretBytes {
    HKDF.derive(from: root, info: Labels.member.utf8 + id, byteCount: 32)
  }

  /// Opens a slot of a factor. The private half must match the public half in the header.
  private func checked(
    _ factor: Factor,
    open: (SlotAddress, SlotRow, borrowing SecretBytes) throws(VaultError) -> SecretBytes,
    at isRight: (SlotAddress) -> Bool
  ) throws(VaultError) -> SharedSecret {
    for row in slots {
      guard let address = SlotAddress(row), address.kind == .factor, address.subject == factor.rawValue,
        isRight(address)
      else { continue }
      let half = try keys.withSlotKey(for: address) { outer throws(VaultError) in
        try open(address, row, outer)
      }
      let publicHalf: [UInt8]
      do throws(CryptoError) { publicHalf = try X25519KeyPair(privateKey: half.copy()).publicKey } catch {
        throw VaultError(crypto: error)
      }
      guard publicHalf == header.factors[factor] else { throw Self.damaged }
      return SharedSecret(half)
    }
    throw Self.damaged
  }

  private static var damaged: VaultError {
    VaultError(
      .damaged, "the vault's keys were altered or are damaged", hint: "restore the vault file from a backup")
  }
}
