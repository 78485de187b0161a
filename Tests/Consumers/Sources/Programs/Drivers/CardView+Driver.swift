import AuthenticatorKit
import SecretMemory
import VaultKit
import VaultTestKit

extension Driver {
  static let cardView = Driver(name: "CardView") {
    let place = TemporaryVault()
    let vault = try place.make()
    let issuer = Issuer()
    let view = CardView(vault: vault, issuer: issuer, session: try ViewingSession.fresh())
    let consent = try await view.ask(for: "c-4", of: "u-17")
    try expect(consent.secondsLeft > 290 && consent.attemptsLeft == 5, "the consent waits")
    do {
      _ = try await view.confirm(consent, typed: SecretBytes(testing: "000000"))
      throw Unexpected(what: "a wrong code is refused")
    } catch let error as VaultError {
      try expect(error.code == .authenticationFailed && error.attemptsLeft == 4, "a wrong code counts")
    }
    let token = try await view.confirm(consent, typed: SecretBytes(testing: "471199"))
    var shown = 0
    try await view.show(token) { shown = $0.byteCount }
    try expect(shown == Issuer.token.utf8.count, "the token of the issuer is shown")
    do {
      try await view.show(token) { _ in }
      throw Unexpected(what: "the token is shown once")
    } catch let error as VaultError { try expect(error.code == .expired, "its use is over") }
    let second = try await view.ask(for: "c-4", of: "u-17")
    try await view.close()
    let left = try await CardConsents(vault).list().first { $0.id == second.id }
    try expect(left?.status == .revoked, "the session ends its consent")
  }
}

/// The issuer of a card in the same process, which sends the code 471199.
private struct Issuer: Transport {
  static let token = "token-of-card-c-4"
  let identity = "app:issuer"

  func send(_ request: TransportRequest) throws(VaultError) -> TransportAnswer {
    var fields = TransportFields()
    switch request.operation {
    case .consentRequest: fields["challenge"] = .text("ch-\(request.id.prefix(8))")
    case .consentConfirm:
      guard case .secret(let code)? = request.fields["codeBase64"],
        code.expose({ unsafe $0.withUnsafeBytes { unsafe Array($0) } }) == Array("471199".utf8)
      else { throw VaultError(peer: "CODE", "that is not the code") }
      fields["tokenBase64"] = .secret(TransportSecret(SecretBytes(testing: Self.token)))
    default: break
    }
    return TransportAnswer(fields)
  }
}
