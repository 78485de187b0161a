package import VaultKit

/// Tokens to which a person agrees on another device (RFC 8628), on the synchronous core.
extension VaultCore {
  /// Begins such a request at the server.
  package func beginDeviceAuthorization(
    for client: ItemID, boundTo key: ItemID? = nil, scope: String? = nil, over transport: any Transport,
    context: AuthenticationContext? = nil
  ) throws(VaultError) -> DeviceAuthorization {
    try check(scope: scope)
    try checkPresentTokens(of: client, context: context)
    if let key { _ = try describeClientKey(of: key) }
    let request = try tokenRequest(of: client, boundTo: nil, over: transport, context: context)
    let reply = try request.askForDeviceCode(scope)
    guard reply.isSuccess, !OAuthRefusal(reply).isStated else {
      throw .oauth(reply, of: "to ask a person on another device")
    }
    return try DeviceAuthorization(reply, of: client, scope: scope, key: key, at: environment.clock.now())
  }

  /// Asks the server until the person has decided, or the server stops waiting, and stores the tokens.
  package func finishDeviceAuthorization(
    _ begun: DeviceAuthorization, over transport: any Transport, context: AuthenticationContext? = nil
  ) throws(VaultError) -> TokenSet {
    var request = try tokenRequest(
      of: begun.registration, boundTo: begun.key, over: transport, context: context)
    var turn = DeviceTurn(begun)
    while turn.goesOn(at: environment.clock.now()) {
      try wait(turn.next(), context: context)
      let reply: OAuthReply
      do throws(VaultError) {
        reply = try request.send { form in
          form.set("grant_type", "urn:ietf:params:oauth:grant-type:device_code")
          form.set("device_code", begun.deviceCode)
        }
      } catch {
        // RFC 8628 §3.5: a question that is lost is asked again, later.
        guard error.isOfTheMoment else { throw error }
        turn.slowDown()
        continue
      }
      let refusal = OAuthRefusal(reply)
      if reply.isSuccess, !refusal.isStated {
        return try keep(request.tokens(in: reply), of: request, scope: begun.scope)
      }
      let error = VaultError.oauth(reply, of: "the code of the device")
      switch refusal.word {
      case "authorization_pending": break
      case "slow_down": turn.slowDown()
      default:
        guard error.isOfTheMoment else { throw error }
        turn.slowDown()
      }
    }
    throw VaultError(
      .expired, "nobody agreed in time, and the server no longer waits", hint: .requestTokens)
  }
}

/// When the server is asked next.
private struct DeviceTurn {
  private let expires: Instant
  private var interval: Duration
  /// The time that is left, without that of the requests: the wall clock may be set meanwhile.
  private var left: Duration

  init(_ begun: DeviceAuthorization) {
    (expires, interval, left) = (begun.expires, begun.interval, begun.life)
  }

  func goesOn(at now: Instant) -> Bool { left > .zero && now < expires }

  /// How long to wait for it.
  mutating func next() -> Duration {
    let time = min(interval, left)
    left -= time
    return time
  }

  /// RFC 8628 §3.5.
  mutating func slowDown() {
    interval = min(interval + .seconds(5), .seconds(DeviceAuthorization.longestInterval))
  }
}

extension VaultError {
  /// Whether the same request can succeed a little later.
  fileprivate var isOfTheMoment: Bool { code == .network && recovery.condition != nil }
}
