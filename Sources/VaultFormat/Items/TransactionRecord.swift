package import SecretMemory

/// The data of a transaction (section 6): what a person decides about.
package struct TransactionRecord: Sendable {
  private typealias Number = FieldNumber.TransactionData

  /// The text that the person sees, and that is signed.
  package let context: String
  /// What may accept it: bits 1 device credential, 2 biometry, 4 PIN.
  package let factors: UInt8
  /// 1 authenticate, 2 activate.
  package let action: UInt8
  /// The credential that it asks for.
  package let credential: ItemID

  package init(context: String, factors: UInt8, action: UInt8, credential: ItemID) {
    (self.context, self.factors, self.action, self.credential) = (context, factors, action, credential)
  }

  /// - Throws: ``VaultError/Code/damaged``.
  package init(_ data: borrowing SecretBytes) throws(VaultError) {
    guard let record = try? Record(decoding: data.expose { $0.array }),
      let text = record[Number.context], text.count <= 4096,
      let context = String(validating: text, as: UTF8.self),
      let factors = record[Number.factors], factors.count == 1,
      let action = record[Number.action], action.count == 1,
      let credential = record[Number.credential].flatMap(ItemID.init)
    else {
      throw VaultError(.damaged, "the transaction is not readable", hint: "ask the server for a new one")
    }
    self.init(context: context, factors: factors[0], action: action[0], credential: credential)
  }

  /// What the item's secret is.
  package var data: SecretBytes {
    var record = Record()
    record[Number.context] = Array(context.utf8)
    record[Number.factors] = [factors]
    record[Number.action] = [action]
    record[Number.credential] = credential.bytes
    return SecretBytes(copying: record.encoded)
  }
}
