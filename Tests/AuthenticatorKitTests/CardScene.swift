import AuthenticatorKit
import SecretMemory
import Synchronization
import VaultCrypto
import VaultExpectations
import VaultKit
import VaultTestKit

/// A vault for tokens and consents, with a clock that the test moves.
struct CardScene {
  static let token = "canary-of-a-token-6f1d90"
  let clock = FixedClock()
  let place: TemporaryVault
  let core: VaultCore

  init(passcode: String? = nil, random: any RandomSource = SystemRandom()) throws {
    place = TemporaryVault(environment: .testing(clock: clock, random: random))
    core = try place.makeCore(passcode: passcode)
  }

  static func session(_ byte: UInt8 = 1) throws(VaultError) -> ViewingSession {
    try ViewingSession(SecretBytes(copying: [UInt8](repeating: byte, count: 32)))
  }

  @discardableResult
  func store(
    _ name: String = "card", ttl: Duration = .seconds(100), uses: UInt32 = 1, session: ViewingSession? = nil,
    access: AccessControl = AccessControl(), secret: String = token, in core: VaultCore? = nil,
    context: AuthenticationContext? = nil
  ) throws(VaultError) -> ItemID {
    var new = NewCardToken(name, timeToLive: ttl)
    (new.uses, new.access) = (uses, access)
    return try (core ?? self.core).storeToken(
      new, secret: SharedSecret(SecretBytes(testing: secret)), session: session, context: context
    ).id
  }

  @discardableResult
  func take(
    _ id: ItemID, session: ViewingSession? = nil, in core: VaultCore? = nil,
    context: AuthenticationContext? = nil
  ) throws(VaultError) -> String {
    let secret = try (core ?? self.core).takeToken(id, session: session, context: context)
    return String(decoding: secret.bytesForTesting, as: UTF8.self)
  }

  /// The code of the error of a token that cannot be taken.
  func refusal(
    _ id: ItemID, session: ViewingSession? = nil, in core: VaultCore? = nil
  ) -> VaultError.Code? {
    thrown { () throws(VaultError) in try take(id, session: session, in: core) }?.code
  }

  /// How many tokens and consents still have a secret in the file.
  func sealed() throws -> Int {
    let all = try core.items(matching: Query(.cardToken)) + core.items(matching: Query(.consent))
    return all.count(where: \.hasSecret)
  }

  func logged(_ operation: AuditOperation) throws -> Int {
    try core.auditEntries().count { $0.operation == operation }
  }

  // MARK: Consents

  static var new: NewConsent {
    var new = NewConsent("view", user: "u-17", card: "c-4")
    new.channel = "sms"
    return new
  }

  static func code(_ digits: String) throws(VaultError) -> ConsentCode {
    try ConsentCode(SecretBytes(testing: digits))
  }

  func request(
    _ new: NewConsent = CardScene.new, session: ViewingSession? = nil, over transport: any Transport
  ) throws(VaultError) -> ItemID {
    try core.requestConsent(new, session: session, over: transport).id
  }

  @discardableResult
  func confirm(
    _ id: ItemID, _ code: String = ConsentServer.code, storing name: String = "card",
    ttl: Duration = .seconds(60), session: ViewingSession? = nil, over transport: any Transport
  ) throws(VaultError) -> CardToken {
    try core.confirmConsent(
      id, with: Self.code(code), storing: NewCardToken(name, timeToLive: ttl), session: session,
      over: transport)
  }

  func status(_ id: ItemID) throws -> ConsentState { try core.consent(id).status }
}

/// A server of consents, which sends the code 471199 for each challenge.
final class ConsentServer: Transport {
  typealias Hook = @Sendable (TransportRequest) throws(VaultError) -> Void
  static let code = "471199"
  private struct State {
    var requests: [TransportRequest] = []
    var hook: Hook?
    var token: [String: TransportValue] = [:]
    var number = 0
  }
  private let state = Mutex(State())
  let identity: String

  init(_ identity: String = "/opt/cards") { self.identity = identity }

  var requests: [TransportRequest] { state.withLock { $0.requests } }
  var operations: [TransportOperation] { requests.map(\.operation) }

  /// Runs before each answer; what it throws is the answer.
  func before(_ hook: Hook?) { state.withLock { $0.hook = hook } }

  /// Members of the answers to `consentConfirm`, besides the token.
  func answer(_ name: String, _ value: TransportValue) { state.withLock { $0.token[name] = value } }

  func send(_ request: TransportRequest) throws(VaultError) -> TransportAnswer {
    let hook = state.withLock { state in
      state.requests.append(request)
      return state.hook
    }
    try hook?(request)
    switch request.operation {
    case .consentRequest:
      let number = state.withLock { state in
        state.number += 1
        return state.number
      }
      return TransportAnswer(TransportFields(["challenge": .text("ch-\(number)")]))
    case .consentConfirm:
      guard request.text(of: "codeBase64") == Self.code else {
        throw VaultError(peer: "CODE", "that is not the code", attemptsLeft: 9)
      }
      var fields = TransportFields(["tokenBase64": .secret(Array(CardScene.token.utf8))])
      for (name, value) in state.withLock({ $0.token }) { fields[name] = value }
      return TransportAnswer(fields)
    default: return TransportAnswer()
    }
  }
}
