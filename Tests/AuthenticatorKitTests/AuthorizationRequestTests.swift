import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Requests that a person answers in a browser", .bounded)
struct AuthorizationRequestTests {
  @Test("a redirection that answers another request gets nothing", .requirement("D4"))
  func redirections() throws {
    let scene = try OAuthScene()
    let client = try scene.register().id
    let request = try scene.core.beginAuthorization(for: client)
    let count = scene.server.requests.count
    let (back, state) = ("https://shop.example/back", request.state)
    for (answer, code) in [
      ("\(back)?code=c&state=other", .policy), ("\(back)?code=c", .policy),
      ("\(back)?code=c&state=\(state)&state=\(state)", .malformed),
      ("\(back)?code=c&state=\(state)&iss=https%3A%2F%2Fevil.example", .policy),
      ("https://evil.example/back?code=c&state=\(state)", .malformed),
      ("\(back)/more?code=c&state=\(state)", .malformed), ("\(back)?state=\(state)", .malformed),
      ("\(back)?code=%zz&state=\(state)", .malformed), ("\(back)?code=&state=\(state)", .malformed),
      ("\(back)?error=access_denied&state=\(state)", .policy), ("a code", .malformed), ("", .malformed),
      ("\(back)#code=c&state=\(state)", .malformed), ("\(back)#x?code=c&state=\(state)", .malformed),
      // Without its scheme or more, an address is not a code, and is not sent as one.
      ("shop.example/back?code=c&state=x", .malformed), ("?code=c&state=x", .malformed),
      ("code=c&state=x", .malformed), ("code=c", .malformed), ("com.example.app:/cb", .malformed),
      // Nor is a part of one that is still percent-encoded.
      ("https%3A%2F%2Fshop.example%2Fback%3Fcode%3Dc%26state%3Dx", .malformed), ("4%2F0AX", .malformed),
    ] as [(String, VaultError.Code)] {
      let error = thrown { () throws(VaultError) in
        _ = try scene.core.finishAuthorization(
          request, with: SharedSecret(SecretBytes(testing: answer)), over: scene.server)
      }
      expect(error?.code, equals: code, "\(answer)")
    }
    expect(scene.server.requests.count, equals: count)
    let whole = "\(back)?iss=https%3A%2F%2Fas.example&code=a%2Db&state=\(state)#x"
    _ = try scene.core.finishAuthorization(
      request, with: SharedSecret(SecretBytes(testing: whole)), over: scene.server)
    expect(scene.server.requests.last?.form["code"], equals: "a-b")
    _ = try scene.core.finishAuthorization(
      request, with: SharedSecret(SecretBytes(testing: "4/only-the_code+==")), over: scene.server)
    expect(scene.server.requests.last?.form["code"], equals: "4/only-the_code+==")
  }

  /// Verified to fail when the address of the redirection is not looked at.
  @Test("a request to a person needs a redirection", .requirement("D4"))
  func withoutRedirection() throws {
    let scene = try OAuthScene()
    var new = OAuthScene.new()
    new.redirect = nil
    let client = try scene.register(new).id
    for redirect in [nil, "foo", "https://shop.example/back#x"] {
      expect(.malformed) { () throws(VaultError) in
        _ = try scene.core.beginAuthorization(for: client, redirect: redirect)
      }
    }
    let back = "com.example.app:/cb"
    try expect(
      scene.core.beginAuthorization(for: client, redirect: back).url.contains("redirect_uri="), equals: true)
  }

  /// Verified to fail when a text without `://` counts as a code, and when the bytes of the two addresses are compared.
  @Test("a redirection is recognized as the browser shows it", .requirement("D4"))
  func shownRedirections() throws {
    let scene = try OAuthScene()
    let client = try scene.register().id
    for (registered, shown, isSame) in [
      ("com.example.app:/cb", "com.example.app:/cb", true),
      ("Com.Example.app:/cb", "com.example.app:/cb", true),
      ("com.example.app:/cb", "com.example.app:/CB", false),
      ("http://127.0.0.1:8080", "http://127.0.0.1:8080/", true), ("http://[::1]", "HTTP://[::1]:80/", true),
      ("http://127.0.0.1:8080", "http://127.0.0.1:8081/", false),
      ("https://Shop.example/Back", "HTTPS://shop.EXAMPLE:443/Back", true),
      ("https://shop.example/back", "https://shop.example/Back", false),
      ("https://shop.example", "http://shop.example", false),
    ] {
      let request = try scene.core.beginAuthorization(for: client, redirect: registered)
      func finish(_ state: String) throws(VaultError) {
        let answer = SharedSecret(SecretBytes(testing: "\(shown)?code=c&state=\(state)"))
        _ = try scene.core.finishAuthorization(request, with: answer, over: scene.server)
      }
      let count = scene.server.requests.count
      let wrong = thrown { () throws(VaultError) in try finish("WRONG") }
      expect(wrong?.code, equals: isSame ? .policy : .malformed, "\(shown)")
      expect(scene.server.requests.count, equals: count)
      let right = thrown { () throws(VaultError) in try finish(request.state) }
      expect(right?.code, equals: isSame ? nil : .malformed, "\(shown)")
      guard isSame else { continue }
      let sent = scene.server.requests.last?.form
      #expect(sent?["code"] == "c" && sent?["redirect_uri"] == registered)
    }
  }
}
