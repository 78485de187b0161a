package import SecretMemory
package import VaultKit

/// The data of a transaction (section 6): what a person decides about, and what its server is to get.
package struct TransactionRecord: Sendable {
  private enum Number {
    static let context: UInt16 = 1
    static let factors: UInt16 = 2
    static let action: UInt16 = 3
    static let credential: UInt16 = 4
    static let answer: UInt16 = 5
    static let isCut: UInt16 = 6
  }

  /// The text that the person sees, and that is signed. Of one that must not be shown, at most 4,096 bytes.
  package let context: String
  /// Whether the text came with more bytes.
  package let isCut: Bool
  /// What may accept it: bits 1 device credential, 2 biometry, 4 PIN.
  package let factors: UInt8
  /// 1 authenticate, 2 activate.
  package let action: UInt8
  /// The credential that it asks for.
  package let credential: ItemID
  /// Of an acceptance that the server does not have yet; `nil` otherwise.
  package var answer: Answer?

  /// What a server is to get of an acceptance.
  package struct Answer: Sendable, Equatable {
    private enum Number {
      static let factor: UInt16 = 1
      static let code: UInt16 = 2
      static let counter: UInt16 = 3
    }

    /// What accepted it: one bit of ``TransactionRecord/factors``.
    package let factor: UInt8
    /// `nil` behind a camouflaged PIN: one stored code gives the PIN of all accounts.
    package let code: String?
    /// `nil` for a credential without a counter.
    package let counter: UInt64?

    package init(factor: UInt8, code: String?, counter: UInt64?) {
      (self.factor, self.code, self.counter) = (factor, code, counter)
    }

    fileprivate init?(_ bytes: [UInt8]) {
      guard let record = try? Record(decoding: bytes), let factor = record[Number.factor], factor.count == 1
      else { return nil }
      var code: String?
      if let stored = record[Number.code] {
        guard 1...64 ~= stored.count, stored.allSatisfy({ 0x21...0x7E ~= $0 }) else { return nil }
        code = String(decoding: stored, as: UTF8.self)
      }
      var counter: UInt64?
      if let stored = record[Number.counter] {
        guard stored.count == 8 else { return nil }
        counter = stored.reduce(0) { $0 << 8 | UInt64($1) }
      }
      self.init(factor: factor[0], code: code, counter: counter)
    }

    fileprivate var bytes: [UInt8] {
      var record = Record()
      record[Number.factor] = [factor]
      record[Number.code] = code.map { Array($0.utf8) }
      record[Number.counter] = counter.map { counter in
        var bytes = [UInt8](repeating: 0, count: 8)
        bytes.setBigEndian(counter, at: 0)
        return bytes
      }
      return record.encoded
    }
  }

  package init(context: String, isCut: Bool = false, factors: UInt8, action: UInt8, credential: ItemID) {
    (self.context, self.isCut, self.factors) = (context, isCut, factors)
    (self.action, self.credential) = (action, credential)
  }

  /// - Throws: ``VaultError/Code/damaged``.
  package init(_ data: borrowing SecretBytes) throws(VaultError) {
    guard let record = try? Record(decoding: data.expose { $0.array }),
      let text = record[Number.context], text.count <= 4096,
      let context = String(validating: text, as: UTF8.self),
      let factors = record[Number.factors], factors.count == 1,
      let action = record[Number.action], action.count == 1,
      let credential = record[Number.credential].flatMap(ItemID.init)
    else { throw Self.unreadable }
    self.init(
      context: context, isCut: record[Number.isCut] == [1], factors: factors[0], action: action[0],
      credential: credential)
    guard let stored = record[Number.answer] else { return }
    guard let answer = Answer(stored) else { throw Self.unreadable }
    self.answer = answer
  }

  private static var unreadable: VaultError {
    VaultError(.damaged, "the transaction is not readable", hint: "ask the server for a new one")
  }

  /// What the item's secret is.
  package var data: SecretBytes {
    var record = Record()
    record[Number.context] = Array(context.utf8)
    record[Number.factors] = [factors]
    record[Number.action] = [action]
    record[Number.credential] = credential.bytes
    record[Number.answer] = answer?.bytes
    if isCut { record[Number.isCut] = [1] }
    return SecretBytes(copying: record.encoded)
  }
}
