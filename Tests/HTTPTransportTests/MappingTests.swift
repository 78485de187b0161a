import Foundation
import TestSupport
import Testing

/// What a mapping makes of a request and of a reply. The server answers with what it was asked.
@Suite("Mappings of vault-http", .bounded)
struct MappingTests {
  private func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

  /// What the server was asked.
  private func asked(_ operation: String, _ members: [String: Any]) throws -> [String: Any] {
    let answer =
      #""answer":{"method":"method","path":"path","body":"body","type":"headers.content-type","#
      + #""x":"headers.x-device","accept":"headers.accept"}"#
    let sender = try Sender(#"{"go":{\#(operation),\#(answer)}}"#)
    let reply = try sender.send("go", members)
    #expect(reply.exit == 0 && reply.errors.isEmpty, "\(reply.text)")
    return reply.members
  }

  @Test("fields keep their types, a secret becomes text, and what is absent is left out")
  func json() throws {
    let got = try asked(
      #""method":"POST","path":"/echo","send":"json","headers":{"X-Device":"d-{device}"},"#
        + #""fields":{"userId":"{user}","code":"{codeBase64}","n":"{counter}","ok":"{flag}","kind":"card","#
        + #""both":"{user}:{counter}","none":"{absent}","half":"a{absent}"}"#,
      [
        "user": "u\"ö\\", "codeBase64": base64("123456"), "counter": UInt64.max, "flag": true,
        "device": "90ad", "nested": ["a": [1, ["b": "x"]]],
      ])
    #expect(got["method"] as? String == "POST" && got["type"] as? String == "application/json")
    #expect(got["x"] as? String == "d-90ad" && got["accept"] as? String == "application/json")
    let text = try #require(got["body"] as? String)
    let body =
      #"{"userId":"u\"\#u{C3}\#u{B6}\\","code":"123456","n":18446744073709551615,"ok":true,"kind":"card","#
      + #""both":"u\"\#u{C3}\#u{B6}\\:18446744073709551615"}"#
    // The server shows each byte as a character.
    expect(text, equals: body)
  }

  /// Verified to fail when members in a path are not encoded.
  @Test("a form is percent-encoded, and so are members in a path")
  func form() throws {
    let got = try asked(
      #""method":"PUT","path":"/echo/{user}/x?n={counter}","send":"form","#
        + #""fields":{"a b":"{user}","token":"{tokenBase64}","grant":"refresh_token"}"#,
      ["user": "a/../b?c&d=e ö~", "tokenBase64": base64("t+/="), "counter": 7])
    expect(got["path"] as? String, equals: "/echo/a%2F..%2Fb%3Fc%26d%3De%20%C3%B6~/x?n=7")
    expect(
      got["body"] as? String,
      equals: "a%20b=a%2F..%2Fb%3Fc%26d%3De%20%C3%B6~&token=t%2B%2F%3D&grant=refresh_token")
    #expect(
      got["type"] as? String == "application/x-www-form-urlencoded" && got["method"] as? String == "PUT")
  }

  @Test("a member cannot leave its place in a path or a header")
  func places() throws {
    let path = try Sender(#"{"go":{"method":"GET","path":"/echo/{user}"}}"#)
    for user in ["", ".", ".."] { try expect(path.send("go", ["user": user]).code, equals: "OTHER") }
    #expect(try path.send("go").message?.contains("no 'user'") == true)
    let header = try Sender(#"{"go":{"method":"GET","path":"/echo","headers":{"X":"{userBase64}"}}}"#)
    let split = try header.send("go", ["userBase64": base64("a\r\nEvil: 1")])
    #expect(split.code == "OTHER" && split.message?.contains("control character") == true)
    let bytes = try header.send("go", ["userBase64": Data([0xFF, 0xFE]).base64EncodedString()])
    #expect(bytes.code == "OTHER" && bytes.message?.contains("is no text") == true)
  }

  @Test("members of the reply are found in objects, keep their types, and become secrets by name")
  func answers() throws {
    let body = #"""
      {"a": {"b": {"c": "deep", "c2": 7}, "list": [{"x": ["secret"]}]},
       "token": "t\u00f6\n", "yes": true, "nothing": null, "left": {"out": -1.5}}
      """#
    let sender = try Sender(
      #"{"go":{"method":"POST","path":"\#(BadServerTests.body(body))","answer":{"deep":"a.b.c","n":"a.b.c2","#
        + #""tokenBase64":"token","yes":"yes","nothing":"nothing","absent":"a.b.x","far":"token.b"}}}"#)
    let answer = try sender.send()
    expect(
      Set(answer.members.keys), equals: ["version", "id", "deep", "n", "tokenBase64", "yes"], "\(answer.text)"
    )
    #expect(answer.members["deep"] as? String == "deep" && answer.members["n"] as? Int == 7)
    expect(answer.members["tokenBase64"] as? String, equals: base64("tö\n"))
    #expect(answer.members["yes"] as? Bool == true && answer.members["id"] as? String == Sender.id)
    #expect(!answer.text.contains("secret"))
  }

  @Test("an empty reply has no members, and a number is no secret")
  func empty() throws {
    let none = try Sender(#"{"go":{"method":"DELETE","path":"/no-content","answer":{"a":"a"}}}"#).send()
    expect(Set(none.members.keys), equals: ["version", "id"], "\(none.text)")
    let path = BadServerTests.body(#"{"a":1}"#)
    let number = try Sender(#"{"go":{"method":"POST","path":"\#(path)","answer":{"aBase64":"a"}}}"#).send()
    #expect(number.code == "NETWORK" && number.message?.contains("another type") == true)
  }

  /// Verified to fail when the last rule that fits counts.
  @Test("the first rule that fits says which error a reply is")
  func errors() throws {
    let rules = #"""
      [{"status":"200","member":"error","code":"STATE","messageMember":"text"},
       {"status":"4xx","member":"code","equals":"17","code":"CODE","message":"wrong","hint":"again","attemptsMember":"left"},
       {"status":"4xx","member":"code","equals":"true","code":"BLOCKED","message":"blocked"},
       {"status":"409","code":"TIMEOUT","messageMember":"e.text"}, {"status":"any","member":"never","code":"SN"}]
      """#
    func ask(_ body: String, _ status: Int) throws -> Sender.Answer {
      try Sender(
        #"{"go":{"method":"POST","path":"\#(BadServerTests.body(body, status: status))","errors":\#(rules)}}"#
      )
      .send()
    }
    let code = try ask(#"{"code":17,"left":2}"#, 400)
    #expect(code.code == "CODE" && code.message == "wrong")
    #expect(code.error["hint"] as? String == "again" && code.error["attemptsLeft"] as? Int == 2)
    #expect(try ask(#"{"code":"17"}"#, 422).code == "CODE")
    #expect(try ask(#"{"code":17}"#, 409).code == "CODE", "the rule for 409 comes later")
    #expect(try ask(#"{"code":true}"#, 400).code == "BLOCKED")
    #expect(try ask(#"{"code":18}"#, 400).code == "OTHER")
    let late = try ask(#"{"code":17.0,"e":{"text":"too late"}}"#, 409)
    #expect(late.code == "TIMEOUT" && late.message == "too late")
    try expect(ask("<html>", 409).message, equals: "the server refused it")
    #expect(try ask(#"{"error":"x","text":"not now"}"#, 200).message == "not now")
    #expect(try ask(#"{"error":null}"#, 200).code == nil)
    let long = try ask(#"{"error":1,"text":"\#(String(repeating: "x", count: 600))"}"#, 200)
    expect(long.message, equals: "the server refused it")
    #expect(try ask(#"{"error":1,"text":"a\nb\u0000"}"#, 200).message == ##"a\u{A}b\u{0}"##)
  }

  @Test("an operation that the mapping does not have is said")
  func unknown() throws {
    let answer = try Sender(path: "/echo").send("login")
    #expect(answer.code == "OTHER" && answer.message == "the mapping has no operation 'login'")
  }

  @Test("a request of HTTP passes as it is, with status and headers, to an origin of the configuration alone")
  func raw() throws {
    let servers = try Servers.shared.get()
    let sender = try Sender("{}", ["operations": NSNull(), "mapping": "oauth"])
    let headers = base64("Authorization: DPoP t\u{F6}\nDPoP: a.b.c\n")
    var members: [String: Any] = [
      "url": servers.origin("good") + "/nonce", "headersBase64": headers,
      "bodyBase64": base64("grant_type=x"),
    ]
    let nonce = try sender.send("oauthToken", members)
    expect(nonce.members["status"] as? Int, equals: 401, "\(nonce.text)")
    let lines = try #require(Data(base64Encoded: nonce.members["headersBase64"] as? String ?? ""))
    let text = String(decoding: lines, as: UTF8.self)
    #expect(text.contains("dpop-nonce: n-1\nset-cookie: a=1\nset-cookie: b=2\n") && text.hasSuffix("\n"))
    #expect(nonce.members["bodyBase64"] as? String == base64(#"{"error":"use_dpop_nonce"}"#))
    members["url"] = servers.origin("good") + "/redirect/307/same"
    let moved = try sender.send("oauthToken", members)
    #expect(moved.members["status"] as? Int == 307 && moved.members["bodyBase64"] == nil)
    for url in [
      servers.origin("second"), servers.origin("good", host: "localhost"), "http://127.0.0.1:1/",
      "file:///etc/passwd",
      "https://u:p@127.0.0.1:\(servers.port("good"))/", "https://127.0.0.1:\(servers.port("good"))/#f", "",
      "x",
    ] {
      members["url"] = url
      try expect(sender.send("oauthToken", members).code, equals: "OTHER", "\(url)")
    }
  }

  @Test(
    "headers of a request of HTTP are lines, and none frames the message",
    arguments: [
      "Name value\n", "Name: value", "Name: a\rb\n", ": x\n", "Na me: x\n", "Host: other\n",
      "content-length: 0\n", "Transfer-Encoding: chunked\n", "A: b\n\n", "A: \0\n",
    ])
  func rawHeaders(lines: String) throws {
    let sender = try Sender("{}", ["operations": NSNull(), "mapping": "oauth"])
    let url = sender.servers.origin("good") + "/echo/headers"
    let answer = try sender.send("oauthRevoke", ["url": url, "headersBase64": base64(lines)])
    #expect(answer.code == "OTHER" && answer.message?.contains("headersBase64") == true, "\(answer.text)")
    #expect(try sender.servers.requests("/echo/headers").isEmpty)
  }
}
