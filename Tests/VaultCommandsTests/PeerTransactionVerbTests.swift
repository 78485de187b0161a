import AuthenticatorKit
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultKit
import VaultTestKit

/// A server that is not ours: `Tests/Peers`, in Python, written from `docs/guides/transport.md` alone.
@Suite("Transactions at the command line, with a peer in Python", .bounded, .serialized)
struct PeerTransactionVerbTests {
  private static let text = "Pay 12 EUR to Anna\nfor the tickets"
  private let tool: Tool
  private let peers = Tool.repository.appendingPathComponent("Tests/Peers").path
  private var peer: String { peers + "/peer" }

  /// A vault with the credential `bank` behind the PIN 8306 and its device credential, as after an activation.
  init() throws {
    tool = try Tool()
    let folder = tool.home.path + "/server"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    tool.environment["VAULT_TEST_PEER"] = folder
    for (words, secrets, input) in [
      (["init", "--no-passcode"], [:], ""),
      (["otp", "add", "bank", "--pin-mode", "checked", "--pin-fd", "3"], [3: "8306"], Self.uri),
      (["otp", "add", "bank-device"], [:], Self.uri),
    ] as [([String], [Int32: String], String)] {
      let run = try tool.run(words, input: Array(input.utf8), secrets: secrets)
      expect(run.exit, equals: 0, "\(run.errors)")
    }
    try activateHere()
    try control("add-user", "anna", "--type", "hotp", "--pin-mode", "9", "--device-credential")
    let run = try tool.run(["-c", Self.activatedThere, peers], program: "/usr/bin/python3")
    expect(run.exit, equals: 0, "\(run.errors)")
  }

  private static let uri = "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0"

  private static let activatedThere = """
    import json, os, sys
    sys.path.insert(0, sys.argv[1])
    import server
    path = os.environ['VAULT_TEST_PEER'] + '/state.json'
    state = json.load(open(path))
    user = state['users']['anna']
    key = {'secretHex': b'12345678901234567890'.hex()}
    user.update(pending=None, state='active', peer='c-17', device='07' * 16,
                credential={**server.new_credential(user['model']), **key},
                deviceCredential={**server.new_credential(user['deviceModel']), **key})
    json.dump(state, open(path, 'w'))
    """

  /// The attributes that an activation sets.
  private func activateHere() throws {
    let core = try VaultCore.open(
      at: tool.home.path + "/.local/share/vaultctl/default.vault",
      protector: FileProtector(folder: tool.home.path + "/.local/state/vaultctl"),
      environment: .testing(clock: tool.clock))
    let device = try core.item(named: "bank-device").id
    for name in ["bank", "bank-device"] {
      let id = try core.item(named: name).id
      var changes = ItemChanges()
      changes.attributes[Attribute<String>(code: 75)] = peer
      if name == "bank" { changes.attributes[Attribute<String>(code: 76)] = "c-17" }
      changes.attributes[Attribute<[UInt8]>(code: 77)] = [UInt8](repeating: 7, count: 16)
      changes.attributes[Attribute<Int64>(code: 80)] = name == "bank" ? 9 : 0
      if name == "bank" { changes.attributes[Attribute<[UInt8]>(code: 82)] = device.bytes }
      try core.writing { transaction throws(VaultError) in
        _ = try transaction.update(id, changes, secret: nil, by: Component(.otp))
        try transaction.changeState(of: id) { $0.set(.active) }
      }
    }
  }

  // MARK: What a test does

  @discardableResult
  private func control(_ words: String...) throws -> String {
    let run = try tool.run(words, program: peers + "/control")
    expect(run.exit, equals: 0, "\(run.errors)")
    return run.text.trimmingCharacters(in: .newlines)
  }

  @discardableResult
  private func push(_ options: String...) throws -> String {
    let run = try tool.run(["push", "anna", "--context", Self.text] + options, program: peers + "/control")
    expect(run.exit, equals: 0, "\(run.errors)")
    return run.text.trimmingCharacters(in: .newlines)
  }

  private func transaction(_ words: String..., input: String = "", pin: String? = nil) throws -> Tool.Run {
    let secrets: [Int32: String] = pin.map { [3: $0] } ?? [:]
    return try tool.run(
      ["transaction"] + words + ["--no-input", "--json"] + (pin == nil ? [] : ["--pin-fd", "3"]),
      input: Array(input.utf8), secrets: secrets)
  }

  private func list(asking: Bool = true) throws -> [[String: Any]] {
    let run =
      asking ? try transaction("list", "--transport", peer) : try transaction("list")
    expect(run.exit, equals: 0, "\(run.errors)")
    return try #require(run.json["items"] as? [[String: Any]])
  }

  private func counter() throws -> Int? {
    try tool("otp", "show", "bank", "--json").json["counter"] as? Int
  }

  /// All that the server knows.
  private func state() throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(control("show").utf8)) as? [String: Any])
  }

  private func complaints() throws -> String { "\(try state()["complaints"] as? [Any] ?? [])" }

  // MARK: Tests

  @Test(
    "none is an empty list; then one is listed, shown, accepted, and a second time refused",
    .requirement("A19", "B6", "B8"))
  func accept() throws {
    #expect(try list().isEmpty)
    let alias = try push("--service-name", "Bank")
    let item = try #require(try list().first)
    #expect(item["alias"] as? String == alias && item["action"] as? String == "authenticate")
    #expect(item["context"] as? String == Self.text && item["credential"] as? String == "bank")
    #expect(item["state"] as? String == "pending" && item["serviceName"] as? String == "Bank")
    expect(item["secondsLeft"] as? Int, equals: 70)
    let shown = try tool("transaction", "show", alias)
    #expect(shown.text.hasSuffix("\n\n" + Self.text + "\n") && shown.text.contains("pending"))
    try expect(transaction("accept", alias, "--transport", peer, pin: "8307").exit, equals: 3)
    try expect(counter(), equals: 0)
    let run = try transaction("accept", alias, "--transport", peer, pin: "8306")
    expect(run.exit, equals: 0, "\(run.errors)")
    #expect(try run.json["state"] as? String == "accepted" && run.json["type"] as? String == "pin")
    try expect(control("decision", "anna", alias), equals: "accept")
    let id = try #require(run.json["id"] as? String)
    for words in [["accept", alias], ["reject", alias], ["cancel", id]] {
      let again = try tool.run(
        ["transaction"] + words + ["--transport", peer, "--no-input", "--json"]
          + (words[0] == "accept" ? ["--pin-fd", "3"] : []), secrets: [3: "8306"])
      #expect(try again.exit == 9 && again.error["code"] as? String == "wrongState")
    }
    #expect(try counter() == 1 && list().map { $0["state"] as? String } == ["accepted"])
    try expect(complaints(), equals: "[]")
  }

  @Test("rejected and cancelled ones reach the server, without a counter", .requirement("B6"))
  func decline() throws {
    for (verb, word, state) in [("reject", "reject", "rejected"), ("cancel", "cancel", "cancelled")] {
      let alias = try push()
      _ = try list()
      let run = try transaction(verb, alias, "--transport", peer)
      #expect(try run.exit == 0 && run.json["state"] as? String == state, "\(run.errors)")
      try expect(control("decision", "anna", alias), equals: word)
    }
    #expect(try counter() == 0 && complaints() == "[]")
  }

  @Test("without --transport a server cannot be asked: exit 2", .requirement("B6"))
  func usage() throws {
    let alias = try push()
    _ = try list()
    for words in [
      ["accept", alias], ["reject", alias], ["cancel", alias], ["list", "--credential", "bank"],
    ] {
      let run = try tool.run(["transaction"] + words + ["--no-input"])
      #expect(run.exit == 2 && run.errors.contains("--transport"), "\(words) \(run.errors)")
    }
    for (words, exit) in [
      (["show"], 2), (["show", alias, "--push"], 2), (["show", "--push"], 2),
      (["show", alias, "--transport", peer], 2), (["show", "other"], 1),
      (["reject", "other", "--transport", peer], 1), (["accept", alias, "--transport", "peer"], 2),
      (["accept", alias, "--transport", "/no/peer"], 16), (["accept", alias, "--type", "eyes"], 2),
    ] as [([String], Int32)] {
      try expect(tool.run(["transaction"] + words + ["--no-input"]).exit, equals: exit, "\(words)")
    }
    try expect(list(asking: false).map { $0["state"] as? String }, equals: ["pending"])
  }

  @Test("of several ways the option chooses, and without a person it is asked for", .requirement("B11"))
  func types() throws {
    let alias = try push("--types", "device,pin")
    try expect(list().first?["choices"] as? [String], equals: ["device", "pin"])
    let none = try transaction("accept", alias, "--transport", peer, pin: "8306")
    #expect(none.exit == 2 && none.errors.contains("--type device|pin"), "\(none.errors)")
    let other = try transaction("accept", alias, "--transport", peer, "--type", "biometry", pin: "8306")
    expect(other.exit, equals: 9, "\(other.errors)")
    try expect(transaction("accept", alias, "--transport", peer, "--type", "device").exit, equals: 6)
    try expect(
      transaction("accept", alias, "--transport", peer, "--type", "pin", pin: "8306").exit, equals: 0)
    try expect(control("decision", "anna", alias), equals: "accept")
  }

  @Test("at a terminal the person chooses, sees the whole text, and says yes", .requirement("B11", "B7"))
  func choice() throws {
    let alias = try push("--types", "device,pin")
    _ = try list()
    let screen = try PseudoTerminal()
    let running = try tool.start(["transaction", "accept", alias, "--transport", peer], on: screen)
    try screen.wait(for: "'\(alias)'")
    try screen.wait(for: "accept it by device")
    screen.type("y\n")
    try screen.wait(for: "for the tickets")
    try screen.wait(for: "accept? [y/N]")
    screen.type("y\n")
    try expect(running.wait(), equals: 0)
    #expect(try control("decision", "anna", alias) == "accept" && counter() == 0)
  }

  /// Verified to fail when a prompt that is interrupted cancels the transaction.
  @Test("Ctrl-C at the PIN decides nothing: it waits on, and nothing was used", .requirement("B6"))
  func interrupted() throws {
    let alias = try push()
    _ = try list()
    for keys in ["\u{3}", "\n"] {
      let screen = try PseudoTerminal()
      let running = try tool.start(["transaction", "accept", alias, "--transport", peer], on: screen)
      try screen.wait(for: "for the tickets")
      try screen.wait(for: "PIN: ")
      screen.type(keys)
      let exit = try running.wait()
      #expect(exit == 5 || exit == 130, "\(exit)")
    }
    try expect(list(asking: false).first?["state"] as? String, equals: "pending")
    #expect(try control("decision", "anna", alias) == "pending" && counter() == 0)
    let pin = try #require((try tool("pin", "status", "--json").json["items"] as? [[String: Any]])?.first)
    expect(pin["attemptsLeft"] as? Int, equals: 10)
  }

  @Test(
    "Ctrl-C while the server is asked stores nothing, and while it is told changes nothing",
    .requirement("B6"))
  func interruptedServer() throws {
    let alias = try push()
    try control("fault", "hang", "--operation", "transactionNext")
    let screen = try PseudoTerminal()
    let asking = try tool.start(["transaction", "list", "--transport", peer], on: screen)
    try waitUntilServerHangs()
    screen.type("\u{3}")
    try expect(asking.wait(), equals: 130)
    #expect(try list(asking: false).isEmpty)
    _ = try list()
    try control("fault", "hang", "--operation", "transactionAnswer")
    let pin = try tool.file("pin", "8306")
    let other = try PseudoTerminal()
    let telling = try tool.start(
      ["transaction", "accept", alias, "--transport", peer, "--pin-file", pin], on: other)
    try waitUntilServerHangs()
    other.type("\u{3}")
    try expect(telling.wait(), equals: 130)
    #expect(try list(asking: false).first?["state"] as? String == "accepted" && counter() == 1)
  }

  /// Until the fault has begun.
  private func waitUntilServerHangs() throws {
    try waitUntil("the server hangs") { try (state()["faults"] as? [Any])?.isEmpty == true }
  }

  @Test(
    "a server that cannot be told: exit 16, the decision stays, and the next list tells it",
    .requirement("B6"),
    arguments: ["error:NETWORK", "lost"])
  func untold(fault: String) throws {
    let aliases = [try push(), try push()]
    _ = try list()
    try control("fault", fault, "--operation", "transactionAnswer")
    let run = try transaction("accept", aliases[0], "--transport", peer, pin: "8306")
    #expect(run.exit == 16 && run.errors.contains("accepted here for good"), "\(run.errors)")
    #expect(run.errors.contains("'vaultctl transaction list --transport PROGRAM' tells"), "\(run.errors)")
    let before = try #require(try list(asking: false).last)
    #expect(before["state"] as? String == "accepted" && before["delivery"] as? String == "untold")
    try expect(tool("transaction", "list").text.contains("accepted, not told"), equals: true)
    let listed = try tool("transaction", "list", "--transport", peer)
    let told = listed.errors.contains("now has the decision about '\(aliases[0])'")
    #expect(listed.exit == 0 && told, "\(listed.errors)")
    #expect(listed.text.contains("\(aliases[1])  pending") && !listed.text.contains("not told"))
    try expect(control("decision", "anna", aliases[0]), equals: "accept")
    try expect(list(asking: false).map { $0["delivery"] as? String }, equals: [nil, "told"])
    #expect(try counter() == 1 && complaints() == "[]")
  }

  @Test("a decision that a server refuses is listed as refused there", .requirement("B6"))
  func refusedThere() throws {
    let alias = try push()
    _ = try list()
    try control("fault", "error:FORBIDDEN", "--operation", "transactionAnswer")
    let run = try transaction("reject", alias, "--transport", peer)
    #expect(run.exit == 9 && run.errors.contains("the server refuses that"), "\(run.errors)")
    try expect(tool("transaction", "list").text.contains("rejected, refused there"), equals: true)
    try expect(tool("transaction", "show", alias).text.contains("refused the decision"), equals: true)
  }

  @Test("a text that must not be shown is listed, hides nothing, and can be rejected", .requirement("A19"))
  func hiddenText() throws {
    let text = try tool.file("text", "to \u{202E}annA")
    try control("push", "anna", "--context-file", text, "--alias", "odd")
    let other = try push()
    let listed = try tool("transaction", "list", "--transport", peer)
    #expect(listed.exit == 0 && listed.text.contains(" s, not shown") && listed.text.contains(other))
    #expect(!listed.text.contains("\u{202E}"))
    let shown = try tool("transaction", "show", "odd")
    #expect(shown.exit == 0 && shown.text.contains("not shown: it has a character"))
    #expect(!shown.text.contains("annA"))
    let json = try tool("transaction", "show", "odd", "--json")
    #expect(try json.json["notShown"] as? Bool == true && json.json["context"] == nil)
    try expect(transaction("accept", "odd", "--transport", peer, pin: "8306").exit, equals: 9)
    try expect(transaction("reject", "odd", "--transport", peer).exit, equals: 0)
    #expect(try control("decision", "anna", "odd") == "reject" && counter() == 0)
  }

  @Test("a server that took the decision, and is out of step: told, and exit 17", .requirement("B6"))
  func outOfStep() throws {
    for (verb, state) in [("accept", "accepted"), ("reject", "rejected")] {
      let alias = try push()
      let payload = "{\"alias\":\"\(alias)\"}"
      try expect(transaction("show", "--push", "--transport", peer, input: payload).exit, equals: 0)
      try control("fault", "error:SYNCHROFAILED", "--operation", "transactionAnswer")
      let run = try transaction(
        verb, alias, "--transport", peer, pin: verb == "accept" ? "8306" : nil)
      #expect(run.exit == 17 && run.errors.contains("otp sync"), "\(run.errors)")
      try expect(run.json["state"] as? String, equals: state)
    }
  }

  /// Verified to fail when each is opened to find one, and when the list ends at the first that does not open.
  @Test("one that is damaged keeps no other from being shown and answered", .requirement("B6", "A19"))
  func damagedNeighbour() throws {
    let aliases = [try push(), try push()]
    for alias in aliases {
      let payload = "{\"alias\":\"\(alias)\"}"
      expect(0, try transaction("show", "--push", "--transport", peer, input: payload))
    }
    try tool.damage("meta", of: "item", where: "row = (SELECT max(row) FROM item)")
    let damaged = try #require(try aliases.first { try tool("transaction", "show", $0).exit == 10 })
    let other = try #require(aliases.first { $0 != damaged })
    let listed = try transaction("list")
    #expect(listed.exit == 10 && listed.errors.contains("1 item does not open: "), "\(listed.errors)")
    let items = try #require(listed.json["items"] as? [[String: Any]])
    expect(items.map { $0["alias"] as? String }, equals: [other])
    expect(0, try transaction("show", other))
    expect(0, try transaction("reject", other, "--transport", peer))
    try expect(control("decision", "anna", other), equals: "reject")
    expect(10, try transaction("reject", damaged, "--transport", peer))
    // The credential that is asked does not open either.
    try tool.damage("body", of: "state", where: "row IN (SELECT row FROM item WHERE name IS NOT NULL)")
    let asked = try transaction("list", "--transport", peer)
    #expect(asked.exit == 10 && asked.errors.contains(" items do not open: "), "\(asked.errors)")
    try expect((asked.json["items"] as? [[String: Any]])?.count, equals: 1)
  }

  /// Verified to fail when the name of a credential that does not open ends the list.
  @Test("a damaged credential keeps no transaction from being listed", .requirement("A19"))
  func damagedCredential() throws {
    let alias = try push()
    _ = try list()
    try tool.damage("meta", of: "item", where: "name IS NOT NULL")
    let listed = try transaction("list")
    #expect(listed.exit == 10 && listed.errors.contains("not open: "), "\(listed.errors)")
    let items = try #require(listed.json["items"] as? [[String: Any]])
    expect(items.map { $0["alias"] as? String }, equals: [alias])
    #expect(items.first?["credential"] == nil)
  }

  /// Verified to fail when a PIN that cannot be found is an error of the whole list.
  @Test("a PIN item whose id is damaged keeps no transaction from being listed", .requirement("A19"))
  func damagedPIN() throws {
    let alias = try push()
    _ = try list()
    try tool.alter(
      by: """
        UPDATE item SET id = CAST(substr(id, 1, 8) || iif(substr(id, 9, 1) = x'5a', x'a5', x'5a') || substr(id, 10) AS BLOB)
        WHERE row = (SELECT min(row) FROM item)
        """)
    let asked = try transaction("list", "--transport", peer)
    #expect(asked.exit == 10 && asked.errors.contains("not open: "), "\(asked.errors)")
    let items = try #require(asked.json["items"] as? [[String: Any]])
    expect(items.map { $0["alias"] as? String }, equals: [alias])
  }

  /// Verified to fail when damage of the transaction that a server offers ends the list.
  @Test("a damaged transaction that a server offers keeps no other from being listed", .requirement("A19"))
  func damagedOffer() throws {
    let aliases = try [push(), push()]
    for alias in aliases {
      let payload = "{\"alias\":\"\(alias)\"}"
      expect(0, try transaction("show", "--push", "--transport", peer, input: payload))
    }
    try tool.damage("meta", of: "item", where: "row = (SELECT max(row) FROM item)")
    let listed = try transaction("list", "--transport", peer)
    #expect(listed.exit == 10 && !listed.errors.isEmpty, "\(listed.errors)")
    let items = try #require(listed.json["items"] as? [[String: Any]])
    expect(items.map { $0["alias"] as? String }, equals: [aliases[0]])
  }

  /// Verified to fail when only some errors of a server leave the list.
  @Test("whatever a server answers, what is here is listed", .requirement("A19"))
  func listedBesideErrors() throws {
    let alias = try push()
    _ = try list()
    for (word, exit) in [("CODE", 3), ("SN", 12), ("PINREUSED", 9), ("OTHER", 0), ("BIOKEY", 4)]
      as [(String, Int32)]
    {
      try control("fault", "error:\(word)", "--operation", "transactionNext")
      let listed = try transaction("list", "--transport", peer)
      expect(listed.exit, equals: exit, "\(word): \(listed.errors)")
      let items = try #require(listed.json["items"] as? [[String: Any]])
      expect(items.map { $0["alias"] as? String }, equals: [alias])
    }
  }

  /// Two credentials of one transport. Verified to fail when the first failure ends the search.
  @Test("a server that fails does not keep the others from being asked", .requirement("B8"))
  func twoServers() throws {
    try expect(tool.run(["otp", "add", "shop"], input: Array(Self.uri.utf8)).exit, equals: 0)
    // The secret is that of the device credential, so the counter must be set.
    try expect(tool.run(["otp", "counter", "shop", "--set", "0"]).exit, equals: 0)
    let core = try VaultCore.open(
      at: tool.home.path + "/.local/share/vaultctl/default.vault",
      protector: FileProtector(folder: tool.home.path + "/.local/state/vaultctl"),
      environment: .testing(clock: tool.clock))
    let bank = try core.item(named: "bank")
    var changes = ItemChanges()
    for code: UInt16 in [75, 76] {
      let attribute = Attribute<String>(code: code)
      changes.attributes[attribute] = bank.attributes[attribute]
    }
    changes.attributes[Attribute<[UInt8]>(code: 77)] = [UInt8](repeating: 7, count: 16)
    let shop = try core.item(named: "shop").id
    try core.writing { transaction throws(VaultError) in
      _ = try transaction.update(shop, changes, secret: nil, by: Component(.otp))
      try transaction.changeState(of: shop) { $0.set(.active) }
    }
    let alias = try push()
    try control("fault", "error:NETWORK", "--operation", "transactionNext")
    let listed = try transaction("list", "--transport", peer)
    #expect(try listed.exit == 16 && listed.error["code"] as? String == "network")
    let item = try #require((listed.json["items"] as? [[String: Any]])?.first)
    #expect(item["credential"] as? String == "shop" && item["context"] as? String == Self.text)
    try control("fault", "error:STATE", "--operation", "transactionNext")
    let shown = try transaction(
      "show", "--push", "--transport", peer, input: "{\"alias\":\"\(alias)\"}")
    #expect(try shown.exit == 0 && shown.json["credential"] as? String == "shop", "\(shown.errors)")
    try control("fault", "error:STATE", "--operation", "transactionNext")
    let gone = try transaction("show", "--push", "--transport", peer, input: #"{"alias":"gone"}"#)
    expect(gone.exit, equals: 9, "\(gone.errors)")
  }

  @Test("one that nobody answers is timed out: exit 7", .requirement("A19"))
  func timeout() throws {
    let alias = try push("--life", "60")
    _ = try list()
    tool.advance(by: 59)
    try expect(list(asking: false).map { $0["state"] as? String }, equals: ["pending"])
    tool.advance(by: 1)
    try expect(list(asking: false).map { $0["state"] as? String }, equals: ["timeout"])
    try expect(transaction("accept", alias, "--transport", peer, pin: "8306").exit, equals: 7)
    let audit = try tool("audit", "--json")
    expect(audit.text.components(separatedBy: "transactionTimedOut").count, equals: 2)
  }

  @Test("a push message names the transaction, and the server says what is shown", .requirement("B8"))
  func pushed() throws {
    try push()
    let payload = try push("--payload", "--service-name", "Bank")
    let run = try transaction("show", "--push", "--transport", peer, input: payload)
    expect(run.exit, equals: 0, "\(run.errors) \(payload)")
    #expect(try payload.contains("\"\(run.json["alias"] as? String ?? "")\""))
    try expect(run.json["context"] as? String, equals: Self.text)
    for (input, exit) in [
      ("{", 12), ("[]", 12), ("{}", 12), (#"{"alias":7}"#, 12), (#"{"alias":"a","action":"pay"}"#, 12),
      (#"{"alias":"a","time_to_live":"70"}"#, 12), (#"{"alias":"a"} {"alias":"b"}"#, 12),
      ("{\"alias\":\"a\"}\n{}", 12), ("{\"alias\":\"gone\"}\n\n", 1),
      (#"{"alias":"gone","other":{"x":[1,null]}}"#, 1),
    ] as [(String, Int32)] {
      try expect(
        transaction("show", "--push", "--transport", peer, input: input).exit, equals: exit, "\(input)")
    }
  }

  @Test("an answer that is broken or refused stores nothing", .requirement("A19"))
  func broken() throws {
    try push()
    for (fault, exit) in [
      ("half", 16), ("wrong-id", 16), ("member:transaction=7", 16), ("error:FORBIDDEN", 9),
      ("error:OTHER", 0),
      ("error:NODEVICE", 1),
    ] as [(String, Int32)] {
      try control("fault", fault)
      let run = try transaction("list", "--transport", peer)
      expect(run.exit, equals: exit, "\(fault) \(run.errors)")
      #expect(try list(asking: false).isEmpty, "\(fault)")
    }
    let text = try tool.file("text", "to \u{202E}annA")
    try control("push", "anna", "--context-file", text, "--alias", "odd")
    let payload = #"{"alias":"odd"}"#
    let run = try transaction("show", "--push", "--transport", peer, input: payload)
    let why = try run.json["whyNotShown"] as? String
    #expect(run.exit == 0 && why?.contains("U+202E") == true, "\(run.errors)")
  }

  /// Both have found the transaction pending, and wait in the derivation of the PIN. Verified to fail when the commit does not
  /// look at the transaction again.
  @Test("of two processes that accept one transaction one wins", .requirement("B6"))
  func race() throws {
    let pin = try tool.file("pin", "8306")
    let alias = try push()
    _ = try list()
    let latch = try NamedPipe(tool.home.path + "/derivations")
    let running = try (1...2).map { number in
      let process = try accept(alias, pin, behind: latch)
      try waitUntil("attempt \(number) is under way") { try attemptsLeft() == 10 - number }
      return process
    }
    latch.open()
    // Without the latch nobody would read what the derivations write.
    let exits = try withExtendedLifetime(latch) { try running.map { try $0.wait() } }
    expect(exits.sorted(), equals: [0, 9])
    try expect(counter(), equals: 1)
    try expect(control("decision", "anna", alias), equals: "accept")
  }

  private func attemptsLeft() throws -> Int? {
    try tool("pin", "status", "pin", "--json").json["attemptsLeft"] as? Int
  }

  /// Starts an acceptance that waits at the latch once its attempt is counted.
  private func accept(_ alias: String, _ pin: String, behind latch: NamedPipe) throws -> Child.Running {
    var environment = tool.environment
    environment["VAULTCTL_TESTING_DERIVATIONS"] = latch.path
    var child = Child(
      Tool.path, ["transaction", "accept", alias, "--transport", peer, "--pin-file", pin], environment)
    for descriptor in Int32(0)...2 { child.open(descriptor, "/dev/null", flags: O_RDWR) }
    return try child.start()
  }
}
