import Foundation
import Glibc
import TestSupport
import Testing

/// Servers that answer badly: each is a failure of the peer that says what was wrong, within the limits.
@Suite("Bad servers over HTTPS", .bounded)
struct BadServerTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let path: String
    let words: String
    var code = "NETWORK"
    var testDescription: String { path }

    init(_ path: String, _ words: String, code: String = "NETWORK") {
      (self.path, self.words, self.code) = (path, words, code)
    }
  }

  static func body(_ text: String, status: Int = 200) -> String {
    let base64 = Data(text.utf8).base64EncodedString()
    return "/status/\(status)/" + base64.replacing("+", with: "-").replacing("/", with: "_")
  }

  static let slow = ["/slow-header", "/hang", "/chunked-slowly"].map { Case($0, "did not answer in time") }

  static let cases = [
    Case("/nothing", "was cut"), Case("/cut", "was cut"), Case("/cut-chunk", "was cut"),
    Case("/cut-header", "was cut"), Case("/empty", "it is empty, and may be cut"),
    Case("/two-gib", "more than 1048576 bytes"), Case("/two-gib-unsaid", "more than 1048576 bytes"),
    Case("/chunked-for-ever", "more than 1048576 bytes"),
    Case("/long-nonce", "a header of more than 8192 bytes"),
    Case("/many-headers", "more than 65536 bytes of headers"),
    Case("/packed-transfer", "more than 1048576 bytes"), Case("/packed-content", "no JSON object"),
    Case("/no-http", "failed with code"),
    // How it ends is libcurl's.
    Case("/continues-for-ever", "127.0.0.1"), Case("/trailers-for-ever", "127.0.0.1"),
    Case("/long-trailer", "127.0.0.1"), Case("/long-status", "127.0.0.1"), Case("/two-lengths", "127.0.0.1"),
    Case("/negative-length", "127.0.0.1"), Case("/zero-byte", "127.0.0.1"),
    Case("/redirect/301/host", "another origin"), Case("/redirect/301/port", "another origin"),
    Case("/redirect/307/host", "another origin"), Case("/redirect/302/plain", "another origin"),
    Case("/redirect/302/file", "another origin"), Case("/redirect/302/user", "another origin"),
    Case("/redirect/302/circle", "in a circle"),
    Case(body("<html>"), "no JSON object"), Case(body("[]"), "no JSON object"),
    Case(body(#"{"a":1"#), "no JSON object"),
    Case(body(#"{"a":1,"a":2}"#), "no JSON object: a member is there twice"),
    Case(body(#"{"b":{"a":1,"a":2}}"#), "no JSON object"), Case(body(#"{} {}"#), "no JSON object"),
    Case(body(#"{"a":"# + String(repeating: "[", count: 200)), "no JSON object"),
    Case(body(#"{"path":{}}"#), "'path' of the server's answer has another type"),
    Case(body(#"{"path":[1]}"#), "another type"), Case(body(#"{"path":1e300}"#), "another type"),
    Case(body("{}", status: 500), "status 500", code: "OTHER"),
    Case("/status/500", "status 500", code: "OTHER"),
    Case("/status/404", "status 404", code: "OTHER"), Case("/status/401", "status 401", code: "ACCESS"),
    Case("/status/503", "status 503"), Case("/status/304", "status 304", code: "OTHER"),
  ]

  /// Nothing but the server, or a limit of sizes, ends a request here: the clock stands still.
  ///
  /// Verified to fail when a body beyond the limit is read on and forgotten (`two-gib-unsaid`, `chunked-for-ever`), when
  /// redirections to another origin are followed, when a member that is there twice counts once, and when headers may end
  /// with the connection (`cut-header`).
  @Test("a bad answer is an error that says what was wrong", arguments: cases)
  func bad(one: Case) throws {
    // A POST is sent once: a repeat would cost time.
    let method = one.path.hasPrefix("/redirect") ? "GET" : "POST"
    let answer = try Sender(path: one.path, method: method).send()
    try check(answer, one)
  }

  /// Verified to fail when the limit is half as long, and when it is what the configuration does not say.
  @Test("an answer that does not come is an error after the limit, and not before", arguments: slow)
  func late(one: Case) throws {
    let path = "\(one.path)/\(UUID().uuidString)"
    let sender = try Sender(path: path, method: "POST", ["seconds": 2])
    let request = try sender.start()
    try sender.servers.awaitRequest(path)
    sender.clock.advance(by: .milliseconds(1990))
    try sender.clock.awaitReadings()
    #expect(request.process.isRunning)
    sender.clock.advance(by: .milliseconds(20))
    try check(request.end(), one)
  }

  private func check(_ answer: Sender.Answer, _ one: Case) throws {
    #expect(answer.exit == 0 && answer.code == one.code, "\(answer.text)")
    #expect(answer.message?.contains(one.words) == true, "\(answer.text)")
    #expect(answer.text.split(separator: "\n").count == 1 && answer.errors.isEmpty)
    #expect(!answer.isUnsent, "the server has the request: \(answer.text)")
  }

  @Test("a server that is not there, and a name that nobody knows")
  func absent() throws {
    let closed = try Sender(path: "/echo", at: "closed", method: "POST").send()
    #expect(closed.code == "NETWORK" && closed.message == "127.0.0.1 cannot be reached")
    let nobody = try Sender(path: "/echo", method: "POST", ["origins": ["https://nobody.invalid"]]).send()
    #expect(nobody.code == "NETWORK" && nobody.message?.contains("nobody.invalid") == true)
    #expect(closed.isUnsent && nobody.isUnsent)
  }

  @Test("a reply that ends with its connection is whole if its JSON is")
  func untilTheEnd() throws {
    try expect(Sender(path: "/until-the-end").send().members["path"] as? String, equals: "whole")
  }

  @Test("text that is not UTF-8 is no JSON")
  func notUTF8() throws {
    let sender = try Sender(path: "/status/200/eyJwYXRoIjoi_yJ9")
    let answer = try sender.send()
    #expect(answer.code == "NETWORK" && answer.message?.contains("not UTF-8") == true, "\(answer.text)")
  }

  @Test("a redirection within the origin is followed, of a POST only where it stays the same request")
  func redirections() throws {
    for status in [301, 302, 303, 307, 308] {
      try expect(Sender(path: "/redirect/\(status)/same").send().members["path"] as? String, equals: "/echo")
      let post = try Sender(path: "/redirect/\(status)/same", method: "POST").send()
      if [307, 308].contains(status) {
        expect(post.members["path"] as? String, equals: "/echo")
      } else {
        #expect(post.code == "NETWORK" && post.message?.contains("must not be sent as another") == true)
      }
    }
  }

  /// Verified to fail when a POST is repeated.
  @Test(
    "what is idempotent is sent up to three times, and all else once",
    arguments: ["503", "502", "504", "cut"])
  func repeats(way: String) throws {
    let servers = try Servers.shared.get()
    func count(_ method: String, isIdempotent: Bool = false) throws -> (Sender.Answer, Int) {
      let key = "\(way)-\(method)-\(isIdempotent)-\(UUID().uuidString)"
      let sender = try Sender(
        #"{"go":{"method":"\#(method)","path":"/flaky/\#(way)/\#(key)","idempotent":\#(isIdempotent),"answer":{"path":"path"}}}"#
      )
      return (try sender.send(), try servers.requests(key).count)
    }
    for (method, isIdempotent) in [("GET", false), ("PUT", false), ("DELETE", false), ("POST", true)] {
      let (answer, times) = try count(method, isIdempotent: isIdempotent)
      #expect(answer.members["path"] != nil && times == 3, "\(method): \(answer.text), \(times) times")
    }
    for method in ["POST", "PATCH"] {
      let (answer, times) = try count(method)
      #expect(answer.code == "NETWORK" && times == 1, "\(method): \(answer.text), \(times) times")
    }
  }
}
