package import SecretMemory
import VaultCrypto

/// The data of a response JWT (section 6): what was asked, and the answer.
package struct ResponseRecord: Sendable {
  private typealias Number = FieldNumber.ResponseData

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
    var places: [UInt16: Range<Int>] = [:]
    do throws(RecordError) {
      places = try data.expose { (bytes) throws(RecordError) in
        var cursor = FieldCursor()
        var found: [UInt16: Range<Int>] = [:]
        while let (number, value) = try cursor.next(in: bytes) { found[number] = value }
        return found
      }
    } catch { throw Self.unreadable }
    var names: [String] = []
    for number in [Number.session, Number.request, Number.issuer] {
      guard let place = places[number], Self.nameBytes.contains(place.count),
        let name = String(validating: data.expose { $0.extracting(place).array }, as: UTF8.self)
      else { throw Self.unreadable }
      names.append(name)
    }
    (session, request, issuer) = (names[0], names[1], names[2])
    if let place = places[Number.answer] {
      guard place.count <= Self.longestAnswer else { throw Self.unreadable }
      answer = SharedSecret(data.expose { SecretBytes(copying: $0.extracting(place)) })
    } else {
      answer = nil
    }
  }

  /// The same with an answer.
  package func answered(_ answer: SharedSecret) -> ResponseRecord {
    ResponseRecord(session: session, request: request, issuer: issuer, answer: answer)
  }

  /// What the item's secret is.
  package var data: SecretBytes {
    let names = [session, request, issuer].map { Array($0.utf8) }
    let count = names.reduce(0) { $0 + 6 + $1.count } + (answer.map { 6 + $0.byteCount } ?? 0)
    return SecretBytes(capacity: count) { output in
      for (number, name) in zip([Number.session, Number.request, Number.issuer], names) {
        output.append(head: number, byteCount: name.count)
        unsafe output.append(copying: name.span.bytes)
      }
      if let answer {
        output.append(head: Number.answer, byteCount: answer.byteCount)
        answer.expose { output.append(copying: $0) }
      }
    }
  }

  private static var unreadable: VaultError {
    VaultError(.damaged, "the challenge is not readable", hint: "end it, and begin the payment again")
  }
}

extension OutputRawSpan {
  fileprivate mutating func append(head number: UInt16, byteCount: Int) {
    let head = [8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    let length = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: byteCount >> $0) }
    unsafe append(copying: (head + length).span.bytes)
  }
}
