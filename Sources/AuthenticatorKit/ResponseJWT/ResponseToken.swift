import JOSE
import SecretMemory
import TextFormats
import VaultKit

/// The token of an answer, read and compared with its request. Only ``ServerKey`` says that its signature is right.
struct ResponseToken: Sendable {
  let outcome: CardOutcome
  let errorNumber: UInt32
  let errorText: String?
  let expires: Instant
  /// What the payload says about its own truth; only for a server.
  let saysValidated: Bool?

  /// - Parameter now: The time by which the answer has expired or not.
  /// - Throws: ``VaultError/Code/malformed``, ``VaultError/Code/unsupported``; ``VaultError/Code/policy`` for the answer to another
  ///   request; ``VaultError/Code/expired``.
  init(_ token: borrowing CompactJWS, answering request: CardChallengeRequest, at now: Instant)
    throws(VaultError)
  {
    do throws(JOSEError) {
      var reading = Reading()
      let claims = try JWTClaims(token.payload) { (name, reader) throws(TextError) in
        try reading.claim(name, reader)
      }
      try claims.checkAudience(request.id, only: true)
      try claims.checkIssuer(request.issuer)
      try reading.checkSession(request.session)
      try claims.checkTimes(at: now.seconds)
      guard let expiry = claims.expiry else { throw .missing("exp") }
      let payload = try reading.finished()
      guard let code = payload.action else { throw .missing("ActionCode") }
      guard let outcome = CardOutcome(rawValue: code) else { throw .wrongType("ActionCode") }
      self.outcome = outcome
      errorNumber = payload.number
      errorText = payload.text.flatMap { $0.isEmpty ? nil : VisibleText.escaped($0) }
      saysValidated = payload.validated
      expires = Instant(seconds: Int64(expiry))
    } catch { throw VaultError(jose: error) }
  }
}

/// The claims that are not registered, and the payload: an object, or an object as text.
private struct Reading {
  private var session: String?
  private var hasPayload = false
  private var payload = Payload()
  private var text: SharedSecret?
  private var wrong: String?

  struct Payload {
    var action: String?
    var number: UInt32 = 0
    var text: String?
    var validated: Bool?
    var wrong: String?

    mutating func read(_ name: String, _ reader: JSONReader) throws(TextError) -> Bool {
      switch name {
      case "ActionCode":
        action = try reader.textOrNil(limit: 64)
        note(name, if: action == nil)
      case "ErrorNumber":
        let value = try reader.numberOrNil().flatMap { UInt32(exactly: $0) }
        number = value ?? 0
        note(name, if: value == nil)
      case "ErrorDescription":
        text = try reader.textOrNil(limit: 1024)
        note(name, if: text == nil)
      case "Validated":
        validated = try reader.flagOrNil()
        note(name, if: validated == nil)
      default: return false
      }
      return true
    }

    private mutating func note(_ name: String, if isWrong: Bool) {
      if isWrong { wrong = wrong ?? name }
    }
  }

  mutating func claim(_ name: String, _ reader: JSONReader) throws(TextError) -> Bool {
    switch name {
    case "ConsumerSessionId":
      session = try reader.textOrNil()
      if session == nil { wrong = wrong ?? name }
    case "Payload":
      hasPayload = true
      switch try reader.kind() {
      case .object:
        var found = Payload()
        try reader.members { (name, reader) throws(TextError) in try found.read(name, reader) }
        payload = found
      case .text: text = SharedSecret(try reader.secret(limit: ResponseRecord.longestAnswer))
      default:
        wrong = wrong ?? name
        return false
      }
    default: return false
    }
    return true
  }

  func checkSession(_ expected: String) throws(JOSEError) {
    if let wrong { throw .wrongType(wrong) }
    guard let session else { throw .missing("ConsumerSessionId") }
    guard session.isSame(as: expected) else { throw .wrongValue("ConsumerSessionId") }
  }

  func finished() throws(JOSEError) -> Payload {
    guard hasPayload else { throw .missing("Payload") }
    var payload = payload
    if let text {
      try JSONObject.read(text.bytes.copy(), as: "'Payload'") { (name, reader) throws(TextError) in
        try payload.read(name, reader)
      }
    }
    if let wrong = payload.wrong { throw .wrongType(wrong) }
    return payload
  }
}

extension JSONReader {
  fileprivate func numberOrNil() throws(TextError) -> UInt64? {
    guard try kind() == .number else {
      try skip()
      return nil
    }
    return try number()
  }

  fileprivate func flagOrNil() throws(TextError) -> Bool? {
    guard try kind() == .word else {
      try skip()
      return nil
    }
    return try word()
  }
}
