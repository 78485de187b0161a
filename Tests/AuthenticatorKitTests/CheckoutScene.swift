import AuthenticatorKit
import JOSE
import SecretMemory
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// A vault with a checkout, and the service that answers: it signs whatever a test makes it say.
struct CheckoutScene {
  static let now: Int64 = 1_700_000_000
  static let key = "a3b0c442-98fc-1c14-9afb-f4c8996fb924"
  static let lookup = CardLookup(version: "2.2.0", enrolled: "Y", status: "C")

  let clock = FixedClock(at: Instant(seconds: now))
  let place: TemporaryVault
  let core: VaultCore
  let request: CardChallengeRequest

  init(passcode: String? = nil) throws {
    place = TemporaryVault(environment: .testing(clock: clock))
    core = try place.makeCore(passcode: passcode)
    request = try Self.request()
  }

  static func request(id: String = "req-1") throws -> CardChallengeRequest {
    try CardChallengeRequest(id: id, issuer: "5ae1b2", session: "0_Session-1")
  }

  @discardableResult
  func begin(_ name: String = "order-7", seconds: Int64 = 7200) throws(VaultError) -> CardChallenge {
    try core.beginChallenge(request, named: name, after: Self.lookup, seconds: seconds)
  }

  func receive(_ token: String, name: String = "order-7") throws(VaultError) -> CardAnswer {
    try core.receiveAnswer(SharedSecret(SecretBytes(testing: token)), to: name)
  }

  func verify(_ token: String, key: String = key) throws(VaultError) -> VerifiedCardAnswer {
    try ServerKey(SecretBytes(testing: key)).verify(
      SecretBytes(testing: token), answering: request, at: clock.now())
  }

  /// The members of an answer as JSON, which a test can replace or leave out.
  struct Answer {
    var members = [
      ("aud", "\"req-1\""), ("jti", "\"ans-1\""), ("iat", "1700000000"), ("exp", "1700007200"),
      ("iss", "\"5ae1b2\""), ("ConsumerSessionId", "\"0_Session-1\""),
      (
        "Payload",
        "{\"ActionCode\":\"SUCCESS\",\"ErrorNumber\":0,\"ErrorDescription\":\"\",\"Validated\":true,\"ExtendedData\":{\"CAVV\":\"AAAB\"}}"
      ),
    ]

    init() {}

    /// - Parameter value: JSON; `nil` leaves the member out.
    init(_ name: String, _ value: String?) {
      self.init()
      self[name] = value
    }

    init(outcome: String) { self.init("Payload", "{\"ActionCode\":\"\(outcome)\",\"ErrorNumber\":0}") }

    subscript(name: String) -> String? {
      get { members.first { $0.0 == name }?.1 }
      set {
        let index = members.firstIndex { $0.0 == name } ?? members.endIndex
        if index < members.endIndex { members.remove(at: index) }
        if let newValue { members.insert((name, newValue), at: index) }
      }
    }

    var json: String { "{" + members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}" }

    /// The token that the service sends.
    func token(key: String = CheckoutScene.key) -> String {
      do {
        let key = try MACKey(SecretBytes(testing: key))
        let signed = UnsignedJWS(.hs256, payload: SecretBytes(testing: json)).signed(with: key)
        return String(decoding: signed.bytesForTesting, as: UTF8.self)
      } catch { preconditionFailure("a key of a test has 32 bytes or more") }
    }
  }

  /// An object as a text of JSON.
  static func quoted(_ object: String) -> String {
    "\""
      + object.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
      .replacing("\n", with: "\\n") + "\""
  }

  /// What a failed answer leaves: the challenge without an answer, its expiry unchanged.
  func expectUnanswered(_ name: String = "order-7") throws {
    let details = try core.challengeDetails(named: name)
    #expect(details.answer == nil && details.challenge.expires == Instant(seconds: Self.now + 7200))
  }
}
