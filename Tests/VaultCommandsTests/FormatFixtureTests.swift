import Foundation
import TestSupport
import Testing
import VaultTestKit

/// R20: every released format opens, with the program as it is shipped. The folder is read, never listed by hand.
///
/// Verified to fail when the label of `meta` is changed. Fails when a column or a default of the format changes, and,
/// for newer vaults, when the version or the required features are not compared.
@Suite("Vaults of every released format", .bounded, .requirement("R20"))
struct FormatFixtureTests {
  static let formats: [String] = {
    let folder = Tool.repository.appendingPathComponent("Tests/Fixtures")
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.filter { $0.hasPrefix("format-") }.sorted()
  }()

  @Test("there is a fixture of this version")
  func present() { #expect(Self.formats.contains("format-1")) }

  @Test("everything in it comes out", arguments: formats, ["plain", "guarded", "rotated"])
  func opens(format: String, name: String) throws {
    let fixture = try Fixture(format, name)
    // `guarded` has an entry that asks each time, which `verify` does not open.
    let sound = name == "guarded" ? "what was looked at is sound" : "everything is sound"
    #expect(try fixture("vault", "check").text.contains(sound))
    for (item, secret) in try fixture.secrets() {
      try expect(fixture("get", item).output, equals: secret, "\(item)")
    }
    try checkRest(fixture)
    try expect(fixture("get", "gone").exit, equals: 1)
    try expect(fixture("get", "here").text, equals: "of this device")
    try fixture.checkEntries()
    try fixture.checkFormer("former")
    if name == "guarded" {
      try expect(fixture("get", "strict").text, equals: "gone with the passcode")
      try expect(fixture("get", "ruled").text, equals: "asks for the passcode")
      try fixture.checkFormer("formerOfGuarded")
    }
    try fixture.checkTrash()
    // It goes on from there.
    try expect(fixture.run(["add", "new"], input: [7]).exit, equals: 0)
    try expect(fixture("vault", "rotate", "epoch").exit, equals: 0)
    try expect(fixture("get", "password").text, equals: "a password")
    #expect(try fixture("vault", "check").text.contains(sound))
  }

  @Test("its backup restores by the passphrase alone, without what was of that device", arguments: formats)
  func restores(format: String) throws {
    let fixture = try Fixture(format, "guarded")
    let other = try Tool()
    let run = try other(
      "restore", fixture.folder + "/guarded.backup", "--passphrase-fd", "3", "--json",
      secrets: [3: try fixture.word("passphrase")], program: Tool.shippedPath)
    expect(run.exit, equals: 0, "\(run.errors)")
    let restored = Fixture(other, fixture)
    try expect(restored("get", "password").exit, equals: 4)
    let code = try restored.run(
      ["get", "password", "--recovery-fd", "4"], secrets: [4: fixture.word("recovery-code")])
    expect(code.exit, equals: 0, "\(code.errors)")
    for (item, secret) in try fixture.secrets() {
      let run = try restored("get", item)
      if try fixture.expected("thisDeviceOnly", [String].self).contains(item) {
        expect(run.exit, equals: 1)
      } else {
        expect(run.output, equals: secret, "\(item): \(run.errors)")
      }
    }
    try checkRest(restored)
    try restored.checkEntries()
    try restored.checkFormer("former")
    try restored.checkTrash()
  }

  @Test("its recovery code opens it without the device key", arguments: formats)
  func recovers(format: String) throws {
    let fixture = try Fixture(format, "guarded")
    try FileManager.default.removeItem(atPath: fixture.folder + "/keys/guarded.key")
    let run = try fixture.run(
      ["vault", "rotate", "device-key", "--recovery-fd", "4"], secrets: [4: try fixture.word("recovery-code")]
    )
    expect(run.exit, equals: 0, "\(run.errors)")
    try expect(fixture("get", "password").text, equals: "a password")
    try expect(fixture("get", "here").exit, equals: 1)
  }

  /// Verified to fail when a passcode and a passphrase are taken as they are typed, and when only their prepared form is tried.
  @Test(
    "what is typed in another form of Unicode opens it; what was set unprepared opens by its bytes",
    arguments: formats)
  func forms(format: String) throws {
    let fixture = try Fixture(format, "guarded")
    let (word, typed) = (try fixture.word("passcode"), try fixture.word("passcode-as-typed"))
    try #require(Array(word.utf8) != Array(typed.utf8))
    let opened = try fixture.run(["get", "password"], secrets: [3: typed])
    expect(opened.text, equals: "a password", "\(opened.errors)")
    let restored = try Tool()(
      "restore", fixture.folder + "/guarded.backup", "--passphrase-fd", "3",
      secrets: [3: try fixture.word("passphrase-as-typed")], program: Tool.shippedPath)
    expect(restored.exit, equals: 0, "\(restored.errors)")

    let old = try Fixture(format, "unprepared")
    let name = try #require(try fixture.expected("formC", [String: String].self)["typed"])
    let bare = try old.run(["get", name], secrets: [3: typed])
    expect(bare.text, equals: "by its bytes", "\(bare.errors)")
    try expect(old.run(["get", name], secrets: [3: word]).exit, equals: 3)
    try expect(old.run(["vault", "check"], secrets: [3: typed]).exit, equals: 0)
  }

  @Test("a vault of a later version is refused: 15, one line that says what to do, and nothing is changed")
  func newer() throws {
    let fixture = try Fixture("format-1", "plain")
    try RawSQLite.run("PRAGMA user_version = 2", on: fixture.folder + "/plain.vault")
    let before = try Data(contentsOf: URL(fileURLWithPath: fixture.folder + "/plain.vault"))
    for words in [
      ["get", "password"], ["ls"], ["status"], ["vault", "rotate", "epoch"], ["vault", "check"],
    ] {
      let run = try fixture.run(words)
      #expect(run.exit == 15 && run.output == [])
      #expect(run.errors.contains("written by a newer version") && run.errors.contains("update this program"))
    }
    try expect(Data(contentsOf: URL(fileURLWithPath: fixture.folder + "/plain.vault")), equals: before)
  }

  /// Verified to fail on the commit that made each vault, which opens it.
  @Test(
    "what was made before the first release is refused: 15, the way out of it is told, and nothing is changed",
    arguments: ["before-first-release", "before-policies", "before-names"])
  func older(folder: String) throws {
    let fixture = try Fixture(folder, "plain")
    let (vault, backup) = (fixture.folder + "/plain.vault", fixture.folder + "/plain.backup")
    let before = try [vault, backup].map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
    let passphrase = try fixture.word("passphrase")
    func refused(_ words: [String], _ secrets: [Int32: String] = [:]) throws {
      let run = try fixture.run(words, secrets: secrets)
      expect(run.exit, equals: 15, "\(words): \(run.errors)")
      #expect((run.errors + run.text).contains("made before the first release"), "\(words): \(run.errors)")
      #expect((run.errors + run.text).contains("export its items with the program that made it"))
    }
    for words in [
      ["get", "password"], ["ls"], ["status"], ["vault", "rotate", "epoch"], ["vault", "check"], ["doctor"],
      ["audit"], ["vault", "rotate", "device-key"], ["export", "jsonl", "--plain"], ["vault", "purge"],
    ] { try refused(words) }
    let code = try fixture.readableWord("recovery-code", of: "format-1")
    try refused(["vault", "rotate", "device-key", "--recovery-fd", "4"], [4: code])
    // As the vault that a restore would replace, and as the backup that it reads.
    let present = Tool.repository.path + "/Tests/Fixtures/format-1/guarded.backup"
    try refused(["restore", present, "--passphrase-fd", "3"], [3: passphrase])
    try refused(["restore", backup, "--passphrase-fd", "3"], [3: passphrase])
    let empty = try fixture.tool(
      "restore", backup, "--passphrase-fd", "3", secrets: [3: passphrase], program: Tool.shippedPath)
    #expect(empty.exit == 15 && empty.errors.contains("made before the first release"))
    #expect(
      !FileManager.default.fileExists(atPath: fixture.tool.home.path + "/.local/share/vaultctl/default.vault")
    )
    try expect([vault, backup].map { try Data(contentsOf: URL(fileURLWithPath: $0)) }, equals: before)
    try expect(
      FileManager.default.contentsOfDirectory(atPath: fixture.folder + "/keys"), equals: ["plain.key"])
  }

  private func checkRest(_ fixture: Fixture) throws {
    let log = try fixture("audit", "--json")
    #expect(try log.exit == 0 && log.json["whole"] as? Bool == true, "\(log.errors)")
    try expect(
      fixture("get", "long").output,
      equals: [UInt8](repeating: 120, count: fixture.expected("longByteCount", Int.self)))
    let shown = try fixture("show", "password", "--json").json
    for (key, value) in try fixture.expected("password", [String: String].self) {
      expect(shown[key] as? String, equals: value, "\(key)")
    }
    for (name, code) in try fixture.expected("codesAt59", [String: String].self) {
      try expect(fixture("code", name, "--at", "59").text, equals: code + "\n")
    }
    try checkWhatOthersWrite(fixture)
    try fixture.checkCounter(of: "hotp", fixture.expected("hotp", [String: Any].self))
    let again = try fixture("otp", "verify", "verifier", secrets: [:], input: Array("755224".utf8))
    #expect(again.exit == 3 || again.exit == 2, "a used code is accepted again")
  }

  /// What servers chose badly, what has a default length, names in another form, and a client that was registered by hand.
  private func checkWhatOthersWrite(_ fixture: Fixture) throws {
    let weak = try fixture.expected("weak", [String: Int].self)
    let shown = try fixture("otp", "show", "weak", "--json").json
    expect(
      shown["weak"] as? String,
      equals: "a secret of \(weak["bits"] ?? 0) bits and codes of \(weak["digits"] ?? 0) digits")
    let suite = try fixture.expected("suite", [String: String].self)
    let (name, question, session) = try (
      #require(suite["name"]), #require(suite["question"]), #require(suite["session"])
    )
    let code = try fixture(
      "transaction", "sign", name, "--question", question, "--session", session, "--session-format", "hex")
    expect(code.text, equals: "\(try #require(suite["code"]))\n", "\(code.errors)")
    let form = try fixture.expected("formC", [String: String].self)
    for typed in [form["typed"], form["name"]] {
      let item = try fixture("show", #require(typed), "--json").json
      for key in ["name", "service", "account"] {
        expect(
          (item[key] as? String).map { Array($0.utf8) }, equals: form[key].map { Array($0.utf8) }, "\(key)")
      }
    }
    let client = try fixture.expected("client", [String: String].self)
    let item = try fixture("show", "client", "--json").json
    expect(item["account"] as? String, equals: client["id"])
    expect(item["issuer"] as? String, equals: client["issuer"])
  }
}

/// A fixture, copied to where it may be changed, and the tool on it.
private struct Fixture {
  let tool: Tool
  let folder: String
  private let vault: String
  private let words: [String]
  private let hasPasscode: Bool

  init(_ format: String, _ name: String) throws {
    tool = try Tool()
    folder = tool.home.path + "/fixture"
    let files = FileManager.default
    // The copy belongs to this user; the repository may belong to another one.
    let original = Tool.repository.appendingPathComponent("Tests/Fixtures/" + format).path
    try #require(Program("/bin/cp", ["-r", original, folder]).run().status == 0)
    try files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder)
    try files.createDirectory(
      atPath: folder + "/keys", withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    for file in try files.contentsOfDirectory(atPath: folder) where file != "keys" {
      try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder + "/" + file)
      if file.hasSuffix(".key") {
        try files.moveItem(atPath: folder + "/" + file, toPath: folder + "/keys/" + file)
      }
    }
    vault = folder + "/\(name).vault"
    words = ["--vault", vault, "--device-key", folder + "/keys/\(name).key"]
    hasPasscode = name == "guarded" || name == "unprepared"
  }

  /// The vault in the standard place of another home, with the passcode of that fixture.
  init(_ tool: Tool, _ other: Fixture) {
    (self.tool, folder, vault, words, hasPasscode) = (tool, other.folder, "", [], other.hasPasscode)
  }

  func callAsFunction(
    _ more: String..., secrets: [Int32: String] = [:], input: [UInt8] = []
  ) throws -> Tool.Run { try run(more, input: input, secrets: secrets) }

  func run(_ more: [String], input: [UInt8] = [], secrets: [Int32: String] = [:]) throws -> Tool.Run {
    var secrets = secrets
    var all = more + words
    let asksNothing = [
      ["show"], ["otp", "show"], ["vault", "rotate", "device-key"], ["history"], ["trash", "list"],
    ]
    if hasPasscode, !asksNothing.contains(where: { more.starts(with: $0) }) {
      all += ["--passcode-fd", "3"]
      secrets[3] = try secrets[3] ?? word("passcode")
    }
    return try tool.run(all, input: input, secrets: secrets, program: Tool.shippedPath)
  }

  func readableWord(_ name: String, of format: String) throws -> String {
    try String(contentsOfFile: Tool.repository.path + "/Tests/Fixtures/\(format)/\(name)", encoding: .utf8)
  }

  func word(_ name: String) throws -> String {
    try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
  }

  func expected<T>(_ key: String, _ type: T.Type) throws -> T {
    let data = try Data(contentsOf: URL(fileURLWithPath: folder + "/expected.json"))
    let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    return try #require(object[key] as? T)
  }

  func secrets() throws -> [(String, [UInt8])] {
    try expected("secrets", [String: String].self).sorted { $0.key < $1.key }.map {
      ($0.key, Array(try #require(Data(base64Encoded: $0.value))))
    }
  }
}

// MARK: Entries, what they were, and the trash

extension Fixture {
  /// A copy of a file gives no code of a counter before it is told where the counter stands.
  fileprivate func checkCounter(of name: String, _ expected: [String: Any]) throws {
    let counter = try #require(expected["counter"] as? Int)
    try expect(self("code", name).exit, equals: 17, "\(name)")
    try expect(self("otp", "counter", name, "--json").json["counter"] as? Int, equals: counter, "\(name)")
    try expect(self("otp", "counter", name, "--set", "\(counter)").exit, equals: 0, "\(name)")
    try expect(
      self("code", name).text, equals: "\(try #require(expected["code"] as? String))\n", "\(name)")
  }

  fileprivate func checkEntries() throws {
    for (name, entry) in try expected("entries", [String: [String: Any]].self) {
      try checkContent(entry, of: [name])
      if entry["password"] == nil { try expect(self("get", name).exit, equals: 1, "\(name)") }
    }
    let (shop, shown) = (
      try expected("shop", [String: Any].self), try self("show", "shop", "--json").json
    )
    for key in ["account", "host", "tags"] {
      expect(shown[key] as? NSObject, equals: shop[key] as? NSObject, "\(key)")
    }
    let code = try #require(shop["codeAt59"] as? String)
    try expect(self("code", "shop", "--at", "59").text, equals: code + "\n")
  }

  /// The parts of an entry, or of a former version of it, each printed by itself.
  private func checkContent(_ entry: [String: Any], of words: [String]) throws {
    var parts: [(String, String)] = []
    for part in ["password", "notes"] {
      if let value = entry[part] as? String { parts.append((part, value)) }
    }
    for field in try #require(entry["fields"] as? [[Any]]) {
      parts.append(("field:" + (try #require(field[0] as? String)), try #require(field[1] as? String)))
    }
    let addresses = try #require(entry["addresses"] as? [String])
    if !addresses.isEmpty { parts.append(("urls", addresses.joined(separator: "\n"))) }
    for (part, value) in parts {
      let run = try run(["get"] + words + ["--field", part])
      expect(run.output, equals: Array(value.utf8), "\(words) \(part): \(run.errors)")
    }
  }

  /// Former versions, the oldest first: entries, or passwords.
  fileprivate func checkFormer(_ key: String) throws {
    let made = try expected("made", [String: Int].self)
    for (name, versions) in try expected(key, [String: [Any]].self) {
      let listed = try #require(self("history", name, "--json").json["versions"] as? [[String: Any]])
      expect(
        listed.compactMap { $0["version"] as? Int }, equals: Array((1...versions.count).reversed()), "\(name)"
      )
      for until in listed.compactMap({ $0["until"] as? Int }) {
        #expect(((made["began"] ?? 0) / 1000...(made["ended"] ?? 0) / 1000).contains(until), "\(name)")
      }
      for (index, version) in versions.enumerated() {
        let words = [name, "--version", "\(index + 1)"]
        if let entry = version as? [String: Any] {
          try checkContent(entry, of: words)
        } else {
          let run = try run(["get"] + words)
          expect(run.text, equals: try #require(version as? String), "\(words): \(run.errors)")
        }
      }
    }
  }

  /// What is in the trash comes back with all that it had. It is there for 30 days of both clocks, so a fixture keeps it for good.
  fileprivate func checkTrash() throws {
    let trash = try expected("trash", [String: [String: Any]].self)
    let listed = try #require(self("trash", "list", "--json").json["items"] as? [[String: Any]])
    expect(Set(listed.compactMap { $0["name"] as? String }), equals: Set(trash.keys))
    let made = try expected("made", [String: Int].self)
    for end in listed.compactMap({ $0["until"] as? Int }) {
      let began = end - 30 * 86_400
      #expect(((made["began"] ?? 0) / 1000...(made["ended"] ?? 0) / 1000).contains(began))
    }
    for (name, what) in trash.sorted(by: { $0.key < $1.key }) {
      let back = try self("trash", "restore", name)
      expect(back.exit, equals: 0, "\(name): \(back.errors)")
      if let secret = what["secret"] as? String {
        try expect(self("get", name).text, equals: secret, "\(name)")
      }
      if let entry = what["entry"] as? [String: Any] { try checkContent(entry, of: [name]) }
      if let former = what["former"] as? [[String: Any]] {
        for (index, old) in former.enumerated() {
          try checkContent(old, of: [name, "--version", "\(index + 1)"])
        }
      }
      let expires = try self("show", name, "--json").json["expires"] as? Int
      expect(expires, equals: (what["expires"] as? Int).map { $0 / 1000 }, "\(name)")
      if what["counter"] != nil { try checkCounter(of: name, what) }
    }
  }
}
