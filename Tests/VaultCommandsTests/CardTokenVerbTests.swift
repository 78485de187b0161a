import Foundation
import TestSupport
import Testing

@Suite("Verbs of card tokens, sessions and consents", .bounded)
struct CardTokenVerbTests {
  private static let number = Array("4111 1111 1111 1111".utf8)

  private func tool() throws -> Tool {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    return tool
  }

  @Test(
    "a token is stored byte for byte, taken as often as it may be, and listed without its secret",
    .requirement("C3"))
  func life() throws {
    let tool = try tool()
    let token = [UInt8](0...255)
    let stored = try tool("card", "put", "card", "--ttl", "90s", "--uses", "2", "--json", input: token)
    #expect(try stored.json["usesLeft"] as? Int == 2 && stored.json["secondsLeft"] as? Int == 90)
    try expect(tool("card", "get", "card").output, equals: token)
    // The row of the token stays a minute longer.
    let shown = try tool("show", "card", "--json").json
    let (created, expires) = (try #require(shown["created"] as? Int), try #require(shown["expires"] as? Int))
    expect(expires, equals: created + 90)
    let list = try tool("card", "list", "--json")
    let items = try #require(try list.json["items"] as? [[String: Any]])
    #expect(items.count == 1 && items[0]["state"] as? String == "valid" && items[0]["usesLeft"] as? Int == 1)
    let last = try tool("card", "get", "card", "--json").json
    #expect(
      last["tokenBase64"] as? String == Data(token).base64EncodedString() && last["usesLeft"] as? Int == 0)
    expect(7, try tool("card", "get", "card"), "has ended")
    expect(7, try tool("card", "revoke", "card"))
    expect(9, try tool("get", "card"), "vaultctl card get")
    expect(1, try tool("card", "get", "nothing"), "'vaultctl card list' shows the names")
    expect(0, try tool("card", "put", "card", "--ttl", "1h", input: [1]))
    expect(8, try tool("card", "put", "card", "--ttl", "1h", input: [2]))
    expect(0, try tool("card", "revoke", "card"))
    expect(7, try tool("card", "get", "card"))
    try expect(tool("vault", "check").exit, equals: 0)
  }

  /// Verified to fail on commit c41b4145, where lists compare the date of the item alone.
  @Test(
    "lists mark exactly the tokens that would be refused now, whatever the clocks say",
    arguments: [
      (0, 0, true), (3599, 3599, true), (3600, 3600, false), (-1800, 0, false), (7200, 0, false),
      (0, 3600, false),
    ])
  func marks(clock: Int, boot: Int, isAlive: Bool) throws {
    let tool = try tool()
    expect(0, try tool("card", "put", "card", "--ttl", "1h", "--uses", "9", input: [1]))
    tool.environment["VAULTCTL_TESTING_CLOCK"] = String(tool.now + clock)
    tool.environment["VAULTCTL_TESTING_BOOT"] = String(1000 + boot)
    expect(try tool("ls").text.contains("expired"), equals: !isAlive)
    let shown = try tool("show", "card", "--json").json["expired"] as? Bool
    expect(shown, equals: isAlive ? nil : true)
    let listed = try tool("card", "list", "--json").json["items"] as? [[String: Any]]
    expect(listed?.first?["state"] as? String, equals: isAlive ? "valid" : "ended")
    try expect(tool("card", "get", "card").exit, equals: isAlive ? 0 : 7)
  }

  @Test(
    "a list under a clock that disagrees ends a token: with the right clock it stays ended",
    .requirement("C7"),
    arguments: [-1800, 7200], [["card", "list"], ["ls"], ["card", "consent", "list"]])
  func ended(clock: Int, words: [String]) throws {
    let tool = try tool()
    expect(0, try tool("card", "put", "card", "--ttl", "1h", "--uses", "9", input: [1]))
    let now = tool.now
    tool.environment["VAULTCTL_TESTING_CLOCK"] = String(now + clock)
    expect(0, try tool.run(words))
    tool.environment["VAULTCTL_TESTING_CLOCK"] = String(now)
    #expect(try tool("audit").text.contains("tokenEnded"))
    let listed = try tool("card", "list", "--json").json["items"] as? [[String: Any]]
    expect(listed?.first?["state"] as? String, equals: "ended")
    expect(7, try tool("card", "get", "card"))
  }

  @Test("a token whose time is over is deleted by the next command, and answers 7", .requirement("C3"))
  func time() throws {
    let tool = try tool()
    expect(0, try tool("card", "put", "card", "--ttl", "90s", "--uses", "2", input: Array("tok-1".utf8)))
    tool.advance(by: 89)
    try expect(tool("card", "get", "card").text, equals: "tok-1")
    tool.advance(by: 1)
    expect(0, try tool("card", "consent", "list"))
    #expect(try tool("audit").text.contains("tokenEnded"))
    #expect(try tool("card", "consent", "list", "--help").text.contains("opening the vault ends what is due"))
    let purged = try tool("card", "clear", "--json")
    // The list has ended it.
    #expect(try purged.exit == 0 && purged.json["ended"] as? Int == 0)
    expect(7, try tool("card", "get", "card"))
    #expect(try tool("card", "list").text.contains("card  ended"))
  }

  /// Verified to fail when a list ends at the first that does not open.
  @Test("a damaged token is named, and the others are listed and taken", .requirement("C3"))
  func damaged() throws {
    let tool = try tool()
    for name in ["first", "second", "third"] {
      expect(0, try tool("card", "put", name, "--ttl", "1h", "--uses", "2", input: Array(name.utf8)))
    }
    try tool.damage("body", of: "state", where: "row = (SELECT min(row) FROM item)")
    func listed(_ count: Int) throws -> [String?] {
      let list = try tool("card", "list", "--json")
      expect(list.exit, equals: 10)
      let message = try list.error["message"] as? String
      #expect(message?.hasPrefix("\(count) item\(count == 1 ? " does" : "s do") not open: ") == true)
      return try #require(try list.json["items"] as? [[String: Any]]).map { $0["name"] as? String }
    }
    try expect(listed(1), equals: ["second", "third"])
    try tool.damage("meta", of: "item", where: "row = (SELECT max(row) FROM item)")
    try expect(listed(2), equals: ["second"])
    try expect(tool("card", "get", "second").text, equals: "second")
    expect(10, try tool("card", "get", "first"))
  }

  @Test("bad input is refused in one line and stores nothing", .requirement("C3", "C5"))
  func refused() throws {
    let tool = try tool()
    expect(2, try tool("card", "put", "card", input: [1]), "--ttl")
    for (ttl, named) in [
      ("0s", " 0s"), ("0", ""), ("31d", " 31d"), ("99999999999999d", " 99999999999999d"), ("x", ""),
    ] {
      expect(
        2, try tool("card", "put", "card", "--ttl", ttl, input: [1]),
        "--ttl\(named) takes a time from 1s to 30d"
      )
    }
    expect(2, try tool("card", "put", "card", "--ttl", "9s", "--uses", "0", input: [1]))
    expect(12, try tool("card", "put", "card", "--ttl", "9s"))
    for count in [(64 << 10) + 1, (1 << 20) + 1] {
      let run = try tool("card", "put", "card", "--ttl", "9s", input: [UInt8](repeating: 1, count: count))
      expect(12, run, "at most 64 KiB")
    }
    expect(9, try tool("card", "put", "card", "--ttl", "9s", input: Self.number), "card number")
    expect(9, try tool("card", "put", "card", "--ttl", "9s", "--label", "123", input: [1]))
    expect(9, try tool("card", "put", "4111111111111111", "--ttl", "9s", input: [1]))
    try expect(tool("card", "list").text, equals: "")
    expect(0, try tool("card", "put", "card", "--ttl", "9s", input: [1]))
    expect(9, try tool("mv", "card", "1234"))
    expect(9, try tool("edit", "card", "--comment", "4111111111111111"))
  }

  @Test("a session is printed once, and what belongs to it needs it and ends with it", .requirement("C4"))
  func session() throws {
    let tool = try tool()
    let (one, two) = (
      try tool("card", "session", "open").text,
      try tool("card", "session", "open", "--json").json["session"] as? String ?? ""
    )
    #expect(one.wholeMatch(of: /[0-9a-f]{64}\n/) != nil && two.count == 64)
    let file = try tool.file("session", one)
    expect(
      0,
      try tool(
        "card", "put", "card", "--ttl", "90s", "--uses", "9", "--session-file", file,
        input: Array("tok-1".utf8)))
    expect(6, try tool("card", "get", "card"), "--session-fd")
    expect(9, try tool("card", "get", "card", "--session-fd", "3", secrets: [3: two]), "another session")
    expect(
      12, try tool("card", "get", "card", "--session-fd", "3", secrets: [3: String(two.dropLast())]),
      "64 hexadecimal")
    try expect(tool("card", "get", "card", "--session-fd", "3", secrets: [3: one]).text, equals: "tok-1")
    expect(6, try tool("card", "session", "close"), "--session-fd")
    try expect(
      tool("card", "session", "close", "--json", "--session-file", file).json["ended"] as? Int, equals: 1)
    expect(7, try tool("card", "get", "card", "--session-file", file))
  }

  /// Verified to fail when the key of a session is taken for a question to a person before the vault is unlocked.
  @Test(
    "in a vault with a passcode, tokens and consents of a session open with the passcode",
    .requirement("C4"), arguments: ["when-unlocked", "when-passcode-set"])
  func sessionAndPasscode(accessible: String) throws {
    let tool = try Tool()
    let passcode = ["--passcode-file", try tool.file("passcode", "right")]
    let session = ["--session-file", try tool.file("session", String(repeating: "5a", count: 32))]
    expect(0, try tool.run(["init", "--no-recovery-code"] + passcode))
    expect(
      0,
      try tool.run(
        ["card", "put", "card", "--ttl", "90s", "--uses", "2", "--accessible", accessible] + session
          + passcode,
        input: [1]))
    for _ in 0..<2 {
      try expect(tool.run(["card", "get", "card"] + session + passcode).output, equals: [1])
    }
    expect(
      0, try tool.run(["card", "put", "next", "--ttl", "90s"] + session + passcode, input: [2]))
    expect(6, try tool.run(["card", "get", "next"] + session), "--passcode-fd")
    expect(3, try tool.run(["card", "get", "next", "--passcode-fd", "3"] + session, secrets: [3: "wrong"]))
    expect(
      9,
      try tool.run(
        ["card", "get", "next"] + passcode + ["--session-fd", "3"],
        secrets: [3: String(repeating: "a5", count: 32)]), "another session")
    let code = try tool.run(
      ["card", "consent", "request", "mine", "--user", "u", "--card", "c", "--role", "issuer"] + session
        + passcode
    ).text.filter(\.isNumber)
    expect(
      0,
      try tool.run(
        ["card", "consent", "confirm", "mine", "--code-fd", "3"] + session + passcode, secrets: [3: code]))
  }

  @Test("a token that asks for a person asks before it is shown", .requirement("C6"))
  func presence() throws {
    let tool = try Tool()
    let passcode = try tool.file("pass", "the passcode")
    expect(0, try tool("init", "--passcode-file", passcode))
    expect(
      0,
      try tool(
        "card", "put", "card", "--ttl", "90s", "--access", "presence", "--passcode-file", passcode,
        input: Array("tok".utf8)))
    expect(6, try tool("card", "get", "card", "--no-input"))
    try expect(tool("card", "get", "card", "--passcode-file", passcode).text, equals: "tok")
  }

  // MARK: Consents

  @Test(
    "a holder's consent gives a token of the peer, and the peer's own words come through",
    .requirement("C1", "C2", "C8"))
  func holder() throws {
    let tool = try tool()
    let peer = try TestPeer(for: tool)
    try peer.control("add-holder", "u-17", "c-4")
    try peer.control("add-holder", "u-2", "c-5", "--no-multi-factor")
    let transport = ["--transport", peer.transport]
    func request(_ name: String, _ user: String, _ card: String) throws -> Tool.Run {
      try tool.run(
        ["card", "consent", "request", name, "--user", user, "--card", card, "--json"] + transport)
    }
    expect(9, try request("view", "u-2", "c-5"), "multi-factor authentication is not enabled")
    expect(9, try request("view", "u-2", "c-5"), "enable it in the app of the bank")
    expect(9, try request("view", "u-2", "4111111111111111"), "card number")
    let asked = try request("view", "u-17", "c-4").json
    #expect(asked["secondsLeft"] as? Int == 300 && (asked["challenge"] as? String)?.hasPrefix("ch-") == true)
    expect(8, try request("view", "u-17", "c-4"))
    let confirm = ["card", "consent", "confirm", "view", "--code-fd", "3"] + transport
    expect(12, try tool.run(confirm, secrets: [3: "12345"]), "six digits")
    // The user is what the peer is asked about, so only a new consent has another one.
    expect(9, try tool("edit", "view", "--account", "u-2"), "only the component")
    let code = try peer.control("consent-code", "u-17")
    expect(3, try tool.run(confirm, secrets: [3: code == "000000" ? "000001" : "000000"]))
    expect(0, try tool.run(["card", "consent", "resend", "view"] + transport))
    expect(9, try tool.run(["card", "consent", "resend", "view"] + transport), "30 seconds")
    expect(0, try tool.run(confirm + ["--ttl", "60s"], secrets: [3: code]))
    try expect(tool("card", "get", "view-token").text, equals: peer.control("consent-token", "u-17"))
    expect(9, try tool.run(confirm + ["--token", "other"], secrets: [3: code]), "final")
    #expect(try tool("card", "consent", "list").text.contains("view  confirmed  holder  u-17  c-4"))
    #expect(try peer.complaints().isEmpty)
  }

  @Test("a challenge that is over at the peer is requested again, and says so", .requirement("C8"))
  func renewed() throws {
    let tool = try tool()
    let peer = try TestPeer(for: tool)
    try peer.control("add-holder", "u-17", "c-4")
    let transport = ["--transport", peer.transport]
    expect(
      0, try tool.run(["card", "consent", "request", "view", "--user", "u-17", "--card", "c-4"] + transport))
    let code = try peer.control("consent-code", "u-17")
    try peer.control("advance", "301")
    let late = try tool.run(
      ["card", "consent", "confirm", "view", "--code-fd", "3"] + transport, secrets: [3: code])
    expect(7, late, "a new one was requested")
    expect(7, late, "vaultctl card consent confirm")
    let new = try peer.control("consent-code", "u-17")
    expect(
      0,
      try tool.run(["card", "consent", "confirm", "view", "--code-fd", "3"] + transport, secrets: [3: new]))
  }

  @Test(
    "the fifth wrong code ends the consent as a wrong code, and the sixth is not judged", .requirement("C1"))
  func lastAttempt() throws {
    let tool = try tool()
    let code = try tool(
      "card", "consent", "request", "view", "--user", "u", "--card", "c", "--role", "issuer"
    ).text
    let wrong = code.hasPrefix("000000") ? "000001" : "000000"
    let exits = try (1...6).map { _ in
      try tool("card", "consent", "confirm", "view", "--code-fd", "3", secrets: [3: wrong]).exit
    }
    expect(exits, equals: [3, 3, 3, 3, 3, 9])
  }

  @Test("an issuer prints the code, judges it, and makes another one", .requirement("C1", "C2"))
  func issuer() throws {
    let tool = try tool()
    let request = ["card", "consent", "request", "view", "--user", "u", "--card", "c", "--role", "issuer"]
    let code = try tool.run(request).text
    #expect(code.wholeMatch(of: /[0-9]{6}\n/) != nil)
    let wrong = code.hasPrefix("000000") ? "000001" : "000000"
    expect(3, try tool("card", "consent", "confirm", "view", "--code-fd", "3", secrets: [3: wrong]))
    let again = try tool("card", "consent", "resend", "view").text
    #expect(again.wholeMatch(of: /[0-9]{6}\n/) != nil)
    expect(
      2, try tool("card", "consent", "confirm", "view", "--ttl", "9s", "--code-fd", "3", secrets: [3: again]))
    expect(0, try tool("card", "consent", "confirm", "view", "--code-fd", "3", secrets: [3: again]))
    expect(9, try tool("card", "consent", "confirm", "view", "--code-fd", "3", secrets: [3: again]))
    expect(2, try tool.run(["card", "consent", "request", "x", "--user", "u", "--card", "c"]), "--transport")
    expect(2, try tool("card", "consent", "request", "x", "--role", "issuer"), "--user")
    let long = String(repeating: "u", count: 256)
    for option in ["--user", "--card", "--channel"] {
      let others = ["--user", "--card"].filter { $0 != option }.flatMap { [$0, "x"] }
      let run = try tool.run(["card", "consent", "request", "x", "--role", "issuer", option, long] + others)
      expect(12, run, "\(option) is 256 bytes long, at most 255 are allowed")
    }
  }
}
