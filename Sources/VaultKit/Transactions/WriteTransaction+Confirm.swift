import VaultFormat
import VaultStorage

extension WriteTransaction {
  /// Checks a verification again, in the commit that relies on it.
  ///
  /// - Throws: ``VaultError/Code/busy`` if the item, its rule or what the person showed was changed or deleted meanwhile;
  ///   ``VaultError/Code/verificationNeeded`` after 30 s.
  package mutating func confirm(_ proof: VerificationProof) throws(VaultError) {
    guard let row = try store.rows.item(id: Bytes16(proof.item.bytes)) else {
      throw VaultError(.busy, "what was verified was deleted meanwhile", hint: "try again")
    }
    try Gate.check(proof, operation: proof.operation, item: store.open(row), row: row, store: store)
  }
}
