package import SecretMemory
import VaultStorage

/// The data of a PIN item (section 11): how its digits become a key, and in a checked item `D`, sealed under that key.
///
/// With it, 10,000 derivations find a checked PIN. So a record that was opened stays in secret memory, like the secrets
/// of other items. The seal of a new record is made in ordinary memory.
package struct PINRecord: Sendable {
  private typealias Number = FieldNumber.PINData

  package let mode: PINMode
  package let derivation: KeyDerivation
  /// What the item's secret is.
  package let data: SharedSecret
  private let sealed: Range<Int>
  private let unlock: Range<Int>?

  /// A camouflaged PIN.
  package static func camouflaged(_ derivation: KeyDerivation) -> PINRecord {
    let data = SecretBytes(copying: head(.camouflaged, derivation).encoded)
    return PINRecord(.camouflaged, derivation, data, sealed: 0..<0, unlock: nil)
  }

  /// A checked PIN.
  ///
  /// - Parameters:
  ///   - sealed: `D`, sealed under the key of `derivation`.
  ///   - unlock: `D`, sealed under an unlock key; `nil` for none, or for the one of `old`.
  ///   - old: The record that this one replaces. What it has besides its first seal of `D` stays.
  package static func checked(
    _ derivation: KeyDerivation, sealed: [UInt8], unlock: [UInt8]? = nil, replacing old: PINRecord? = nil
  ) throws(VaultError) -> PINRecord {
    var record = head(.checked, derivation)
    record[Number.sealed] = sealed
    record[Number.unlock] = unlock
    var rest = SecretBytes(zeroes: 0)
    if let old { rest = old.data.expose { SecretBytes(copying: $0.extracting(old.sealed.upperBound...)) } }
    return try PINRecord(SecretBytes.joining(SecretBytes(copying: record.encoded), rest))
  }

  /// - Throws: ``VaultError/Code/damaged``, ``VaultError/Code/unsupported`` for a mode that this version does not know.
  package init(_ data: consuming SecretBytes) throws(VaultError) {
    let places: [UInt16: Range<Int>]
    do throws(RecordError) {
      places = try data.expose { (bytes) throws(RecordError) in
        var cursor = FieldCursor()
        var found: [UInt16: Range<Int>] = [:]
        while let (number, value) = try cursor.next(in: bytes) { found[number] = value }
        return found
      }
    } catch { throw Self.unreadable }
    guard let number = places[Number.mode], number.count == 1, let derivation = places[Number.derivation]
    else { throw Self.unreadable }
    let byte = data.expose { unsafe $0.unsafeLoad(fromByteOffset: number.lowerBound, as: UInt8.self) }
    guard let mode = PINMode(rawValue: byte) else {
      throw VaultError(
        .unsupported, "the PIN is of a mode that this version does not know", hint: .useNewerVersion)
    }
    let sealed = places[Number.sealed]
    guard (sealed != nil) == (mode == .checked) else { throw Self.unreadable }
    let parameters = try KeyDerivation(decoding: data.expose { $0.extracting(derivation).array })
    self.init(mode, parameters, data, sealed: sealed ?? 0..<0, unlock: places[Number.unlock])
  }

  private init(
    _ mode: PINMode, _ derivation: KeyDerivation, _ data: consuming SecretBytes, sealed: Range<Int>,
    unlock: Range<Int>?
  ) {
    self.mode = mode
    self.derivation = derivation
    self.data = SharedSecret(data)
    self.sealed = sealed
    self.unlock = unlock
  }

  /// Lends the seal of `D`; an empty one in a camouflaged PIN.
  package func withSealed<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try data.expose { (bytes) throws(E) in try body(bytes.extracting(sealed)) }
  }

  /// Whether an unlock key is a second opener of `D`.
  package var hasUnlockKey: Bool { unlock != nil }

  /// Lends the seal of `D` under the unlock key; an empty one without such a key.
  package func withUnlockSeal<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try data.expose { (bytes) throws(E) in try body(bytes.extracting(unlock ?? 0..<0)) }
  }

  private static func head(_ mode: PINMode, _ derivation: KeyDerivation) -> Record {
    var record = Record()
    record.set(Number.mode, u8: mode.rawValue)
    record[Number.derivation] = derivation.encoded
    return record
  }

  private static var unreadable: VaultError {
    VaultError(.damaged, "the PIN item is not readable", hint: "restore the vault from a backup")
  }
}
