package import VaultFormat
package import SecretMemory
import VaultCrypto
package import VaultStorage

extension GenerationKeys {
  /// The enrolled set of a header: the members in force. Empty before the first enrollment.
  package func enrolledSet(of header: Header) throws(VaultError) -> EnrolledSet {
    var set = try storedSet(of: header)
    let revoked = header.revoked
    set.members.removeAll { revoked.contains($0.factor) }
    return set
  }

  /// The enrolled set as field 14 holds it, including members that were removed while the vault was locked.
  package func storedSet(of header: Header) throws(VaultError) -> EnrolledSet {
    guard let bytes = try enrolledRecord(of: header) else { return EnrolledSet() }
    return try EnrolledSet(decoding: bytes)
  }

  /// The record that field 14 seals.
  package func enrolledRecord(of header: Header) throws(VaultError) -> [UInt8]? {
    guard let sealed = header.enrolled else { return nil }
    return try openEnrolled(sealed, in: header.vault)
  }

  /// Header field 16: a MAC, under the trust key, of every public half that keys may be wrapped to, of the owners of
  /// the halves, and of the list of audit roots.
  package func factorMAC(of header: Header, slots: [SlotRow], trust: SharedSecret) throws(VaultError)
    -> [UInt8]
  {
    let roots = slots.compactMap { SlotAddress($0) }.filter { $0.kind == .auditRoot }.map(\.subject)
    return KeyedHMAC(key: HKDF.derive(from: trust.bytes, label: Labels.factorMAC))
      .code(for: header.vouchedFor(try enrolledRecord(of: header), auditRoots: roots))
  }
}
