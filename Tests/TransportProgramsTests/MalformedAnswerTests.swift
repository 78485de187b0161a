import AuthenticatorKit
import Foundation
import Glibc
import TestSupport
import Testing
import TransportPrograms
import VaultKit

/// Each is a failure of the peer that names the program and what was wrong.
@Suite("Answers that are none", .bounded)
struct MalformedAnswerTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let answer: String
    let flaw: String
    var testDescription: String { flaw + ": " + answer.prefix(60) }

    init(_ answer: String, _ flaw: String) { (self.answer, self.flaw) = (answer, flaw) }
  }

  private static let good = #"{"version":1,"id":"ID","state":"active"}"#
  private static func with(_ member: String) -> String { #"{"version":1,"id":"ID",\#(member)}"# }
  private static func nested(_ depth: Int) -> String {
    with(#""a":"# + String(repeating: "[", count: depth) + String(repeating: "]", count: depth))
  }

  static let cases = [
    Case("", "it is empty"),
    Case("\n", "'{' is missing"),
    Case("nonsense", "'{' is missing"),
    Case("[]", "'{' is missing"),
    Case(#"{"version":1,"id":"ID","sta"#, "a text does not end"),
    Case(#"{"version":1,"id":"ID""#, "'}' is missing"),
    Case(good + good, "text after the object"),
    Case(good + "\n" + good, "more than one line"),
    Case(good + "\n\n", "more than one line"),
    Case(good + " x", "text after the object"),
    Case("{\n\"version\":1,\"id\":\"ID\"}", "'\"' is missing"),
    Case(#"{"id":"ID"}"#, "'version' is missing"),
    Case(#"{"version":"1","id":"ID"}"#, "'version' is missing"),
    Case(#"{"version":2,"id":"ID"}"#, "its version is 2"),
    Case(#"{"version":1}"#, "not the id of the request"),
    Case(#"{"version":1,"id":7}"#, "not the id of the request"),
    Case(#"{"version":1,"id":"5b1f0c0dd00dfeed5b1f0c0dd00dfeee"}"#, "not the id of the request"),
    Case(with(#""operation":"synchronize""#), "it is the request"),
    Case(with(#""a":1,"a":1"#), "'a' is there twice"),
    Case(with(#""version":1"#), "'version' is there twice"),
    Case(with(#""a":[{"b":1,"b":1}]"#), "'b' is there twice"),
    Case(with(#""c":{"secretBase64":"AA==","secretBase64":"AA=="}"#), "is there twice"),
    Case(nested(16), "nest deeper than 16"),
    Case(nested(20_000), "nest deeper than 16"),
    Case(with(#""\#(String(repeating: "n", count: 65))":1"#), "longer than 64 bytes"),
    Case(with("\"a\":\"x\0y\""), "control character"),
    Case(with("\"a\":\"x\ty\""), "control character"),
    Case(with(#""a":"\ud800""#), "surrogate"),
    Case(with(#""a":"\x41""#), "unknown escape"),
    Case(with(#""a":01"#), "begins with a zero"),
    Case(with(#""a":-"#), "a digit is missing"),
    Case(with(#""a":1."#), "a digit is missing"),
    Case(with(#""a":1e"#), "a digit is missing"),
    Case(with(#""a":+1"#), "a value is missing"),
    Case(with(#""a":tru"#), "a value is missing"),
    Case(with(#""a":nul"#), "a value is missing"),
    Case(with(#""a":NaN"#), "a value is missing"),
    Case(with(#""a":'x'"#), "a value is missing"),
    Case(with(#""a":1,"#), "'\"' is missing"),
    Case(with(#""a":[1,]"#), "a value is missing"),
    Case(with(#""aBase64":"A""#), "not base64, in 'aBase64'"),
    Case(with(#""aBase64":"AA""#), "not base64"),
    Case(with(#""aBase64":"AB==""#), "not base64"),
    Case(with(#""aBase64":"A-_=""#), "not base64"),
    Case(
      with(#""aBase64":"\#(String(repeating: "AAAA", count: 21846))""#), "'aBase64' has more than 65536 bytes"
    ),
    Case(with(#""error":"no""#), "'error' is no object"),
    Case(with(#""error":{"code":"CODE"}"#), "'error' is no object"),
    Case(with(#""error":{"code":1,"message":"m"}"#), "'error' is no object"),
    Case(with(#""error":{"code":"CODE","message":"m","hint":null}"#), "'hint' is no text"),
    Case(
      with(#""error":{"code":"CODE","message":"m","attemptsLeft":-1}"#), "'attemptsLeft' is no whole number"),
    Case(
      with(#""error":{"code":"NETWORK","message":"m","unsent":1}"#), "'unsent' is neither true nor false"),
  ]

  /// Verified to fail when a member that is there twice counts once (the second, or one in what is skipped), when what follows
  /// the first line is not read, when the id is not compared, when a request that comes back counts as an answer, and when the depth is not counted.
  @Test("a malformed answer is a failure of the peer", arguments: cases)
  func malformed(one: Case) throws {
    let peer = try PeerProgram(answering: one.answer)
    let error = try #require(peer.failure())
    expect(error.code, equals: .network)
    #expect(error.message.hasPrefix("the transport \(peer.path) gave a malformed answer: "))
    #expect(error.message.contains(one.flaw), "\(error.message)")
    #expect(error.hint != nil)
  }

  @Test(
    "text that is not UTF-8 is refused",
    arguments: [#"\xff"#, #"\xc0\x80"#, #"\xed\xa0\x80"#, #"\xf4\x90\x80\x80"#])
  func notUTF8(bytes: String) throws {
    for name in ["a", #""a":["#] {
      let begin = name == "a" ? #""a":""# : #""a":[1,""#
      let peer = try PeerProgram(
        #"say(('{"version":1,"id":"\#(PeerProgram.id)",\#(begin)').encode() + b'\#(bytes)' + b'"\#(name == "a" ? "" : "]")}')"#
      )
      let error = try #require(peer.failure())
      #expect(error.code == .network && error.message.contains("not UTF-8"), "\(error.message)")
    }
  }

  /// Verified not to end when members are looked for one by one for each new one.
  @Test("an answer of very many members is read with little work")
  func many() async {
    await #expect(processExitsWith: .success) {
      let peer = try PeerProgram("say(text(**{'m%d' % n: 1 for n in range(70_000)}))")
      // Of the processor, so that a busy machine does not count.
      var seconds = rlimit(rlim_cur: 10, rlim_max: 10)
      precondition(unsafe setrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &seconds) == 0)
      let count = try peer.send().all.count
      precondition(count == 70_000)
    }
  }
}
