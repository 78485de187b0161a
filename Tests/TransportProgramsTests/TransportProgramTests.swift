import AuthenticatorKit
import Foundation
import Glibc
import SecretMemory
import TestSupport
import Testing
import TransportPrograms
import VaultKit

@Suite("Transports that are programs", .bounded)
struct TransportProgramTests {
  @Test("a request is one line of JSON, and each type of value arrives and comes back")
  func values() throws {
    let peer = try PeerProgram(
      """
      line = json.dumps(request)
      note('request', line)
      answer(**{name: value for name, value in request.items() if name not in ('version', 'id', 'operation')})
      """)
    let bytes = (0..<64 << 10).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    let inner: TransportFields = ["type": .text("hotp"), "keyBase64": .secret(secret([0, 255]))]
    let fields = try peer.send([
      "context": .text("line\nline \"quoted\" \\ é 字 \u{10FFFF}"), "counter": .number(.max),
      "zero": .number(0), "is": .flag(true), "not": .flag(false), "secretBase64": .secret(secret(bytes)),
      "emptyBase64": .secret(secret([])), "types": .texts(["pin", "biometry"]), "none": .texts([]),
      "credential": .fields(inner),
    ])
    expect(fields.all.count, equals: 10)
    expect(fields.word("context"), equals: "line\nline \"quoted\" \\ é 字 \u{10FFFF}")
    expect(fields.word("counter"), equals: "18446744073709551615")
    expect(
      ["zero", "is", "not", "types", "none"].map { fields.word($0) },
      equals: [
        "0", "true", "false", "pin|biometry", "",
      ])
    try expect(content(fields["secretBase64"]), equals: bytes)
    try expect(content(fields["emptyBase64"]), equals: [])
    guard case .fields(let credential)? = fields["credential"] else { throw CocoaError(.coderInvalidValue) }
    expect(credential.word("type"), equals: "hotp")
    try expect(content(credential["keyBase64"]), equals: [0, 255])
    let request = try peer.note("request")
    #expect(
      request.hasPrefix(
        #"{"version": 1, "id": "\#(PeerProgram.id)", "operation": "synchronize", "context": "#))
  }

  /// Verified to fail when the answer is taken as soon as a part of it is there.
  // Each byte is read before the next is written.
  @Test("an answer that comes byte by byte, and without a newline, is read")
  func slowly() throws {
    let peer = try PeerProgram(
      """
      for byte in text(state='active').encode():
          os.write(1, bytes([byte]))
          while any(fcntl.ioctl(1, 0x541b, bytes(4))): os.sched_yield()
      """)
    try expect(peer.send().word("state"), equals: "active")
  }

  @Test("members that nobody asks for may have any type", arguments: ["a", "context", "x.y"])
  func unknown(name: String) throws {
    let values = [
      "null", "-1", "-0", "1.5", "0.0", "1e3", "1E+2", "2.5e-7", "18446744073709551616",
      "1\(String(repeating: "0", count: 400))",
      "[1]", #"["a",1]"#, #"[["a"],{"b":[null]}]"#, "[null,true,false]",
    ]
    for value in values {
      let peer = try PeerProgram(
        answering: #"{"version":1,"id":"ID","\#(name)": \#(value) ,"state":"active"}"#)
      let fields = try peer.send()
      expect(fields.word(name), equals: "other", "\(value)")
      expect(fields.word("state"), equals: "active")
    }
  }

  @Test("a text of any length and an answer of 1 MiB are read")
  func large() throws {
    let peer = try PeerProgram(
      """
      rest = 2 ** 20 - len(text(note=''))
      say(text(note='x' * rest))
      """)
    #expect(try peer.send().word("note")?.utf8.count ?? 0 > 1 << 20 - 100)
    let one = try PeerProgram("say(text(note='x' * (2 ** 20 - len(text(note='')))) + '\\n')")
    #expect(one.failure()?.message.contains("more than 1048576 bytes") == true)
  }

  /// Verified to fail when `error` is not looked at.
  @Test("the error of a peer is the error of the call, and its texts are the peer's")
  func errors() throws {
    let peer = try PeerProgram(
      "answer(error={'code': 'CODE', 'message': 'not yours', 'hint': 'ask again', 'attemptsLeft': 2, 'new': None})"
    )
    let error = try #require(peer.failure())
    expect(error.code, equals: .authenticationFailed)
    #expect(error.message == "not yours" && error.hint == "ask again" && error.attemptsLeft == 2)
    let other = try PeerProgram("answer(error={'code': 'NEW', 'message': 'a\\x1b[2Jb'}, state='active')")
    expect(other.failure()?.code, equals: .peerFailed)
    expect(other.failure()?.message, equals: "the server refused it")
    for (members, isUnsent) in [("", false), (", 'unsent': True", true), (", 'unsent': False", false)] {
      let network = try PeerProgram("answer(error={'code': 'NETWORK', 'message': 'no route'\(members)})")
      let error = try #require(network.failure())
      #expect(error.code == .network && (error.underlying != nil) == isUnsent)
    }
  }

  @Test("twenty requests at once each get their own answer")
  func atOnce() async throws {
    // None answers before all have begun.
    let peer = try PeerProgram(
      "note(request['peer'], '')\nhold()\nanswer(counter=request['counter'], peer=request['peer'])")
    let transport = try TransportProgram(peer.path, limits: .init(by: HeldClock().now))
    let failures = Failures()
    let all = onThread {
      Crowd().run(20) { number in
        for turn in 0..<3 {
          let counter = number * 10 + turn
          let id = String(repeating: "0", count: 30) + String(10 + number)
          let fields: TransportFields = ["counter": .number(UInt64(counter)), "peer": .text("p\(counter)")]
          let answer = try? transport.send(TransportRequest(.login, id: id, fields: fields)).fields
          if answer?.word("counter") != "\(counter)" || answer?.word("peer") != "p\(counter)" {
            failures.add()
          }
        }
      }
    }
    try await awaitUntil("twenty programs") {
      (0..<20).allSatisfy { (try? peer.note("p\($0 * 10)")) != nil }
    }
    peer.pipe.open()
    try await all.value
    expect(failures.count, equals: 0)
  }

  private func secret(_ bytes: [UInt8]) -> TransportSecret {
    TransportSecret(SecretBytes(copying: unsafe bytes.span.bytes))
  }

  private func content(_ value: TransportValue?) throws -> [UInt8] {
    guard case .secret(let secret)? = value else { throw CocoaError(.coderInvalidValue) }
    return secret.expose { unsafe $0.withUnsafeBytes { unsafe Array($0) } }
  }
}
