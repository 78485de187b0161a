import Foundation
import HTTPTransport
import TestSupport
import Testing

@Suite("Mappings that come with vault-http", .bounded)
struct ShippedMappingTests {
  @Test(
    "each is printed as it is read, and another name is said to be none",
    arguments: ["striga", "oauth", "transport"])
  func printed(name: String) throws {
    let sender = try Sender(path: "/echo")
    let printed = try sender.run([], words: ["--print-mapping", name])
    #expect(printed.exit == 0 && printed.text == ShippedMappings.text(of: name))
    #expect(!printed.members.isEmpty)
    let other = try Sender(printed.text).send("absent")
    expect(other.message, equals: "the mapping has no operation 'absent'", "the text itself is a mapping")
    let unknown = try sender.run([], words: ["--print-mapping", name + "x"])
    #expect(unknown.exit == 2 && unknown.errors.contains("oauth, striga, transport"))
  }

  /// The server has no path of Striga, so the mapping is moved to one that answers.
  private func striga(_ operation: String, to path: String, _ members: [String: Any]) throws -> Sender.Answer
  {
    let text = try #require(ShippedMappings.text(of: "striga"))
    let moved = text.replacing(/"path": "[^"]*"/, with: #""path": "\#(path)""#)
    return try Sender(moved).send(operation, members)
  }

  @Test("Striga's consents have the fields of its server, and its refusals reach the person")
  func striga() throws {
    let members = ["user": "u-1", "card": "c-1", "challenge": "ch-1", "codeBase64": "MTIzNDU2"]
    let token = try striga(
      "consentConfirm", to: BadServerTests.body(#"{"cardAuthToken":"t-1"}"#), members)
    expect(token.members["tokenBase64"] as? String, equals: Data("t-1".utf8).base64EncodedString())
    let challenge = try striga(
      "consentRequest", to: BadServerTests.body(#"{"challengeId":"ch-2"}"#), members)
    expect(challenge.members["challenge"] as? String, equals: "ch-2", "\(challenge.text)")
    func refused(_ body: String, _ status: Int = 400) throws -> Sender.Answer {
      try striga("consentResend", to: BadServerTests.body(body, status: status), members)
    }
    #expect(try refused(#"{"status":400,"errorCode":"30031","errorDetails":"x"}"#).code == "CODE")
    #expect(try refused(#"{"errorCode":30003}"#).code == "FORBIDDEN")
    let own = try refused(#"{"message":"Multi-factor authentication is not enabled"}"#, 403)
    #expect(own.code == "FORBIDDEN" && own.message == "Multi-factor authentication is not enabled")
    try expect(refused("<html>", 500).code, equals: "OTHER")
  }

  @Test("what Striga is sent has its names")
  func strigaFields() throws {
    let key = UUID().uuidString
    let members = [
      "user": "u-1", "card": "c-1", "challenge": "ch-1", "channel": "sms", "codeBase64": "MTIzNDU2",
    ]
    for operation in ["consentRequest", "consentConfirm", "consentResend"] {
      _ = try striga(operation, to: "/echo/\(key)/\(operation)", members)
    }
    let bodies = try Servers.shared.get().requests(key).compactMap { $0["body"] as? String }
    #expect(
      bodies == [
        #"{"userId":"u-1","cardId":"c-1","channel":"sms"}"#,
        #"{"userId":"u-1","challengeId":"ch-1","verificationCode":"123456"}"#,
        #"{"userId":"u-1","challengeId":"ch-1"}"#,
      ])
  }

  @Test("a server that speaks the transport page gets the request as it is, and its reply is the answer")
  func transport() throws {
    let operation = #"{"method":"POST","path":"PATH","send":"request","answer":"body"}"#
    let text = #"{"version":1,"id":"\#(Sender.id)","state":"active","codeBase64":"AA=="}"# + "\n"
    let path = BadServerTests.body(text)
    let answer = try Sender(#"{"synchronize":\#(operation.replacing("PATH", with: path))}"#)
      .send("synchronize", ["peer": "c-17"])
    expect(answer.text, equals: text)
    let echo = try Sender(#"{"synchronize":\#(operation.replacing("PATH", with: "/echo"))}"#)
      .send("synchronize", ["peer": "c-17"])
    expect(
      echo.members["body"] as? String,
      equals: String(decoding: try Sender.line("synchronize", ["peer": "c-17"]), as: UTF8.self))
  }
}
