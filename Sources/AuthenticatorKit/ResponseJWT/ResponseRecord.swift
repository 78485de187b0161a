package import SecretMemory
package import VaultKit
import VaultCrypto

/// The data of a response JWT (section 6): what was asked, and the answer.
package struct ResponseRecord: Sendable {
  private enum Number {
    static let session: UInt16 = 1
    static let request: UInt16 = 2
    static let issuer: UInt16 = 3
    static let answer: UInt16 = 4
  }

  /// The most bytes of an answer.
  package static let longestAnswer = 64 << 10
  /// The bytes of a session, a request and an issuer.
  package static let nameBytes = 1...255

  package let session: String
  /// The `jti` of the request.
  package let request: String
  package let issuer: String
  /// As it was received; empty for an answer without a token, `nil` while there is none.
  package let answer: SharedSecret?

  /// - Precondition: The names have ``nameBytes`` bytes, and the answer at most ``longestAnswer``.
  package init(session: String, request: String, issuer: String, answer: SharedSecret? = nil) {
    (self.session, self.request, self.issuer, self.answer) = (session, request, issuer, answer)
  }

  /// - Throws: ``VaultError/Code/damaged``.
  package init(_ data: borrowing SecretBytes) throws(VaultError) {
    do throws(RecordError) {
      let fields = try SecretFields(data.copy())
      session = try SecretFields.required(Number.session, fields.text(Number.session, Self.nameBytes))
      request = try SecretFields.required(Number.request, fields.text(Number.request, Self.nameBytes))
      issuer = try SecretFields.required(Number.issuer, fields.text(Number.issuer, Self.nameBytes))
      answer = try fields.secret(Number.answer, 0...Self.longestAnswer)
    } catch { throw Self.unreadable }
  }

  /// The same with an answer.
  package func answered(_ answer: SharedSecret) -> ResponseRecord {
    ResponseRecord(session: session, request: request, issuer: issuer, answer: answer)
  }

  /// What the item's secret is.
  package var data: SecretBytes {
    var fields = SecretFieldWriter()
    fields.put(Number.session, session)
    fields.put(Number.request, request)
    fields.put(Number.issuer, issuer)
    fields.put(Number.answer, answer)
    return fields.data
  }

  private static var unreadable: VaultError {
    VaultError(.damaged, "the challenge is not readable", hint: "end it, and begin the payment again")
  }
}
