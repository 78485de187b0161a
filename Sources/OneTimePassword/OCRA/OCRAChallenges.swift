/// The two challenges of a mutual authentication (RFC 6287 §7.2), or of a signature with server authentication (§7.3.2).
///
/// The client sends its challenge. The server answers ``serverQuestion`` with a code, and sends its own challenge. When
/// the client has checked that code, it answers ``clientQuestion``. In each question, the challenge of the other party
/// comes first, and the two questions must differ, so that no answer can be sent back as the other one. The two parties
/// may use different suites.
public struct OCRAChallenges: Sendable, Hashable {
  /// What the server answers: the client's challenge, then the server's.
  public let serverQuestion: OCRAQuestion
  /// What the client answers: the server's challenge, then the client's.
  public let clientQuestion: OCRAQuestion

  /// The questions of two challenges.
  ///
  /// - Parameters:
  ///   - client: The challenge that the client chose (RFC 6287: QC).
  ///   - server: The challenge that the server chose (RFC 6287: QS).
  /// - Throws: ``OTPError/Code/invalidInput`` if the formats of the challenges differ, if one is a question of two, or if
  ///   both questions are the same, as for equal challenges: choose another challenge, or end the exchange.
  public init(client: OCRAQuestion, server: OCRAQuestion) throws(OTPError) {
    serverQuestion = try OCRAQuestion(joining: client, server)
    clientQuestion = try OCRAQuestion(joining: server, client)
    guard serverQuestion.encoded != clientQuestion.encoded else { throw .invalidInput(.question) }
  }
}
