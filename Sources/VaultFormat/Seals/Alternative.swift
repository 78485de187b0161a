package import SecretMemory
package import VaultCrypto
package import VaultStorage

/// One way to an item's data key: a list of factors, perhaps with further secrets (section 10).
package struct Alternative: Sendable {
  private typealias Number = FieldNumber.Way

  /// Ascending.
  package let factors: [Factor]
  private let ephemeral: [UInt8]
  /// How the application password becomes a key; `nil` where the item has none.
  package let password: KeyDerivation?
  private let sealed: [UInt8]
  /// The further secrets that it needs.
  package let further: FurtherSecrets.Names

  /// What a seal of a data key is bound to.
  package struct Place {
    package let vault: VaultID
    package let row: ItemRow
    package let policyHash: [UInt8]

    package init(vault: VaultID, row: ItemRow, policyHash: [UInt8]) {
      self.vault = vault
      self.row = row
      self.policyHash = policyHash
    }

    package var aad: [UInt8] { AssociatedData.alternative(vault, row, policyHash: policyHash) }
  }

  /// - Throws: ``VaultError/Code/damaged``.
  package init(decoding bytes: [UInt8]) throws(VaultError) {
    let fields = try FieldReader(bytes, or: Self.unreadable)
    let numbers = try fields.bytes(Number.factors)
    let extras = try fields.u8(Number.extras)
    try fields.check(numbers.count % 4 == 0)
    factors = stride(from: 0, to: numbers.count, by: 4).map { Factor(rawValue: numbers.bigEndian(at: $0)) }
    ephemeral = try fields.bytes(Number.ephemeral, count: 32)
    sealed = try fields.bytes(Number.sealed)
    further = FurtherSecrets.Names(rawValue: extras)
    password =
      if let derivation = fields.record[Number.derivation] { try KeyDerivation(decoding: derivation) } else {
        nil
      }
    let isAscending = zip(factors, factors.dropFirst()).allSatisfy { $0.rawValue < $1.rawValue }
    try fields.check(
      isAscending && (password != nil) == further.contains(.password) && (!factors.isEmpty || extras != 0)
        && (!factors.isEmpty || ephemeral.allSatisfy { $0 == 0 }))
  }

  /// The list in `keys`, after its first byte.
  package static func list(decoding bytes: [UInt8]) throws(VaultError) -> [Alternative] {
    let values: [[UInt8]]
    do throws(RecordError) { values = try Record(decoding: bytes).list() } catch { throw unreadable }
    guard 1...2 ~= values.count else { throw unreadable }
    var list: [Alternative] = []
    for value in values { list.append(try Alternative(decoding: value)) }
    return list
  }

  /// Seals a data key for factors, of which only the public halves are needed.
  ///
  /// - Parameters:
  ///   - halves: The public halves of `factors`, in the same order.
  ///   - further: Exactly the further secrets that the policy requires.
  package static func sealing(
    _ dataKey: borrowing SecretBytes, for factors: [Factor], halves: [[UInt8]], further: FurtherSecrets,
    at place: Place, random: any RandomSource
  ) throws(CryptoError) -> [UInt8] {
    let pair = try ephemeralPair(dataKey, random: random)
    let ephemeral = factors.isEmpty ? [UInt8](repeating: 0, count: 32) : pair.publicKey
    var secrets = SecretBytes(zeroes: 0)
    for half in halves {
      secrets = SecretBytes.joining(
        secrets, try X25519KeyPair.sharedSecret(private: pair.privateKey, public: half))
    }
    let names = further.names
    let key = wrappingKey(
      further.joined(to: secrets, names), factors: factors, ephemeral: ephemeral, halves: halves,
      further: names, place: place)
    var record = Record()
    record[Number.factors] = factors.flatMap(\.bytes)
    record[Number.ephemeral] = ephemeral
    record[Number.derivation] = further.password?.derivation.encoded
    record[Number.sealed] = try CommittingSeal.seal(
      dataKey, under: key, label: Labels.sealAlternative, aad: place.aad, random: random)
    record.set(Number.extras, u8: names.rawValue)
    return record.encoded
  }

  /// The data key.
  ///
  /// - Parameters:
  ///   - privates: The private halves of the factors.
  ///   - halves: The public halves of the factors, in their order.
  ///   - given: At least the further secrets that it needs.
  /// - Throws: ``CryptoError/commitmentMismatch`` for another key: a wrong further secret.
  package func open(
    with privates: [Factor: SharedSecret], _ halves: [[UInt8]], further given: FurtherSecrets, at place: Place
  ) throws(CryptoError) -> SecretBytes {
    var secrets = SecretBytes(zeroes: 0)
    for factor in factors {
      guard let half = privates[factor] else { throw .invalidKey }
      secrets = SecretBytes.joining(
        secrets, try X25519KeyPair.sharedSecret(private: half.bytes, public: ephemeral))
    }
    guard given.names.isSuperset(of: further) else { throw .invalidKey }
    let key = Self.wrappingKey(
      given.joined(to: secrets, further), factors: factors, ephemeral: ephemeral, halves: halves,
      further: further, place: place)
    let dataKey = try CommittingSeal.open(sealed, under: key, label: Labels.sealAlternative, aad: place.aad)
    guard dataKey.byteCount == 32 else { throw .malformed }
    return dataKey
  }

  /// Hedged: if the random generator repeats itself, another data key still gives another pair.
  private static func ephemeralPair(_ dataKey: borrowing SecretBytes, random: any RandomSource)
    throws(CryptoError) -> X25519KeyPair
  {
    let info = Labels.ephemeral.utf8 + (try random.bytes(32))
    return try X25519KeyPair(privateKey: HKDF.derive(from: dataKey, info: info, byteCount: 32))
  }

  private static func wrappingKey(
    _ secrets: borrowing SecretBytes, factors: [Factor], ephemeral: [UInt8], halves: [[UInt8]],
    further: FurtherSecrets.Names, place: Place
  ) -> SecretBytes {
    var bound = Record()
    bound[FieldNumber.WayKey.item] = place.row.id.bytes
    bound[FieldNumber.WayKey.policyHash] = place.policyHash
    bound[FieldNumber.WayKey.factors] = factors.flatMap(\.bytes)
    bound[FieldNumber.WayKey.ephemeral] = ephemeral
    bound[FieldNumber.WayKey.halves] = halves.flatMap(\.self)
    bound.set(FieldNumber.WayKey.extras, u8: further.rawValue)
    return HKDF.derive(
      from: secrets, info: Labels.alternative.utf8 + SHA256.hash(bound.encoded), byteCount: 32)
  }

  private static var unreadable: VaultError {
    VaultError(
      .damaged, "the keys of an item are not readable", hint: "restore the vault from a backup")
  }
}
