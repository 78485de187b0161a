import Foundation
import TestSupport
import Testing

/// What people keep in an entry, and what a locked vault shows of it.
///
/// Verified to fail when `show` prints hidden values; when it opens an entry without `--reveal` by asking for the passcode; and when
/// `add` reads no notes.
@Suite("Entries at the command line", .bounded)
struct EntryVerbTests {
  /// A vault with the entry `shop`.
  static func make(passcode: String? = nil) throws -> Tool {
    let tool = try Tool()
    if let passcode {
      let file = try tool.file("passcode", passcode)
      expect(0, try tool("init", "--passcode-file", file))
    } else {
      expect(0, try tool("init", "--no-passcode"))
    }
    let notes = try tool.file("notes", "line one\nline two\n")
    var words = [
      "add", "shop", "--account", "anna", "--url", "https://anna@Shop.example:443/login", "--url",
      "https://other.example", "--notes-file", notes, "--field", "customer=4711=x", "--field-fd",
      "PIN of card=3",
      "--tag", "work", "--tag", "home",
    ]
    if passcode != nil { words += ["--passcode-file", tool.home.path + "/passcode"] }
    expect(0, try tool.run(words, input: Array("geheim".utf8), secrets: [3: "canary-1234\n"]))
    return tool
  }

  @Test("each part of an entry comes back byte for byte, with user and addresses in one answer")
  func parts() throws {
    let tool = try Self.make()
    let parts = [
      "password": "geheim", "secret": "geheim", "notes": "line one\nline two\n", "PIN of card": "canary-1234",
      "field:PIN of card": "canary-1234", "customer": "4711=x", "url": "https://anna@Shop.example:443/login",
      "urls": "https://anna@Shop.example:443/login\nhttps://other.example", "tags": "home\nwork",
      "host": "shop.example", "account": "anna",
    ]
    for (part, value) in parts {
      let run = try tool("get", "shop", "--field", part)
      expect(0, run)
      expect(run.text, equals: value, "\(part)")
    }
    let json = try tool("get", "shop", "--json").json
    expectHelp(of: ["get"], toName: json)
    #expect(json["account"] as? String == "anna" && json["secret"] as? String == "geheim")
    expect((json["urls"] as? [String])?.first, equals: "https://anna@Shop.example:443/login")
    let pin = try tool("get", "shop", "--field", "PIN of card", "--json").json
    expectHelp(of: ["get"], toName: pin)
    #expect(pin["field"] as? String == "PIN of card" && pin["value"] as? String == "canary-1234")
    let absent = try tool("get", "shop", "--field", "nope")
    expect(1, absent, "it has password, notes, url, \"customer\", \"PIN of card\"")
    #expect(!absent.errors.contains("canary"))
    #expect(absent.text.isEmpty)
  }

  @Test("an entry without a password says what it has, and other verbs of passwords leave its fields")
  func noPassword() throws {
    let tool = try Self.make()
    expect(0, try tool("add", "wifi", "--no-password", "--field", "ssid=home"))
    expect(1, try tool("get", "wifi"), "it has \"ssid\"")
    expect(0, try tool("edit", "wifi", "--generate", "24"))
    expect(0, try tool("get", "wifi"))
    try expect(tool("get", "wifi", "--field", "ssid").text, equals: "home")
    expect(2, try tool("add", "x", "--no-password", "--generate", "8"), "contradict")
  }

  @Test("a field that is called like another part is found by field:NAME")
  func reservedNames() throws {
    let tool = try Self.make()
    expect(0, try tool("edit", "shop", "--set", "field:account=other"))
    try expect(tool("get", "shop", "--field", "account").text, equals: "anna")
    try expect(tool("get", "shop", "--field", "field:account").text, equals: "other")
  }

  /// Verified to fail when a synonym is taken before the entry is looked at.
  @Test("what people call a part means it, and a field of the entry with that name comes first")
  func synonyms() throws {
    let tool = try Self.make()
    let url = "https://anna@Shop.example:443/login"
    let parts = [
      "user": "anna", "username": "anna", "login": "anna", "uri": url, "website": url,
      "note": "line one\nline two\n", "PIN of card": "canary-1234", "account": "anna", "password": "geheim",
    ]
    for (part, value) in parts {
      try expect(tool("get", "shop", part).text, equals: value, "\(part)")
    }
    expect(2, try tool("get", "shop", "user", "--field", "url"), "one of them is enough")
    expect(0, try tool("edit", "shop", "--set", "field:login=own", "--set", "field:code=another"))
    try expect(tool("get", "shop", "login").text, equals: "own")
    try expect(tool("get", "shop", "code").text, equals: "another")
    try expect(tool("get", "shop", "user").text, equals: "anna")
  }

  @Test("'get NAME otp' is the next code of the entry, whose counter is on disk before it is printed")
  func code() throws {
    let tool = try Self.make()
    expect(1, try tool("get", "shop", "otp"), "the entry has no one-time code")
    let uri = "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0"
    expect(0, try tool("otp", "add", "shop", input: Array(uri.utf8)))
    try expect(tool("get", "shop", "otp").text, equals: "755224\n")
    try expect(tool("get", "shop", "--field", "totp").text, equals: "287082\n")
    try expect(tool("code", "shop").text, equals: "359152\n")
    let json = try tool("get", "shop", "code", "--json").json
    #expect(json["code"] as? String == "969429" && json["counter"] as? Int == 3)
    expect(0, try tool("edit", "shop", "--set", "field:x=1"))
    expect(2, try tool("get", "shop", "otp", "--version", "1"), "--version is for what is sealed")
    let log = try tool("audit", "--json").text
    expect(log.components(separatedBy: "codeGenerated").count, equals: 5)
  }

  @Test("'show' lists what an entry has, and no hidden value and no password")
  func shown() throws {
    let tool = try Self.make()
    let run = try tool("show", "shop")
    for line in [
      "host                 shop.example", "tags                 home, work",
      "field                customer = 4711=x",
      "field                PIN of card = ********", "notes                2 lines",
      "password             ********",
      "url                  https://other.example",
    ] { #expect(run.text.contains(line + "\n"), "\(run.text)") }
    let json = try tool("show", "shop", "--json")
    for text in [run.text, json.text] { #expect(!text.contains("canary") && !text.contains("geheim")) }
    let fields = try #require(json.json["fields"] as? [[String: Any]])
    expect(fields.map { $0["name"] as? String }, equals: ["customer", "PIN of card"])
    #expect(fields[1]["hidden"] as? Bool == true && fields[1]["value"] == nil)
    #expect(try json.json["notesLines"] as? Int == 2 && json.json["hasPassword"] as? Bool == true)
    #expect(try json.json["notes"] == nil && json.json["secret"] == nil && json.json["secretBase64"] == nil)
  }

  /// Verified to fail when there is a dot for each character.
  @Test("the dots say nothing of the length of a secret, and its rows and members neither")
  func dots() throws {
    let tool = try Self.make()
    func shown(_ name: String, _ secret: String) throws -> [String] {
      let fields = ["--field-fd", "PIN=3"]
      expect(
        0, try tool.run(["add", name] + fields, input: Array(secret.utf8), secrets: [3: secret]))
      let json = try tool("show", name, "--json").text
      let text = try tool("show", name).text
      // But for its name, its identifier and the account, which is its name.
      let rows = text.split(separator: "\n").filter { line in
        ["name", "id", "account"].allSatisfy { !line.hasPrefix($0 + " ") }
      }
      return rows.map(String.init) + [String(json.components(separatedBy: "\"accessible\"")[1])]
    }
    let short = try shown("s", "x")
    try expect(shown("l", String(repeating: "y", count: 300)), equals: short)
    #expect(
      short.contains("password             ********") && short.contains("field                PIN = ********")
    )
  }

  @Test(
    "--reveal shows the password, hidden values and notes, also with --json, and nothing that moves a cursor")
  func revealed() throws {
    let tool = try Self.make()
    let run = try tool("show", "shop", "--reveal")
    for line in [
      "password             geheim", "field                PIN of card = canary-1234",
      "field                customer = 4711=x",
      "notes                line one", "                     line two",
    ] { #expect(run.text.contains(line + "\n"), "\(run.text)") }
    let json = try tool("show", "shop", "--reveal", "--json").json
    let fields = try #require(json["fields"] as? [[String: Any]])
    expect(fields.map { $0["value"] as? String }, equals: ["4711=x", "canary-1234"])
    #expect(json["secret"] as? String == "geheim" && json["notes"] as? String == "line one\nline two\n")
    let odd = try tool.file("odd", "a\u{1B}[2Jb\nsecond")
    expect(0, try tool("add", "odd", "--notes-file", odd, input: [0x1B, 65]))
    let described = try tool("show", "odd", "--reveal")
    #expect(!described.text.contains("\u{1B}"))
    #expect(described.text.contains("notes                (2 lines, 13 bytes)"), "\(described.text)")
    expect(0, try tool("add", "plain", input: [65]))
    #expect(try tool("show", "plain", "--reveal").text.contains("password             A\n"))
    expect(0, try tool("key", "generate", "k"))
    expect(9, try tool("show", "k", "--reveal"), "--reveal is for entries")
  }

  @Test("on a terminal the notes are shown, with the password as dots; a code is named, and not shown")
  func onTerminal() throws {
    let tool = try Self.make()
    let uri = "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0"
    expect(0, try tool("otp", "add", "shop", input: Array(uri.utf8)))
    let screen = try PseudoTerminal()
    let running = try tool.start(
      shell: "/bin/sh", ["-c", "\"$T\" show shop; echo end=$?."], on: screen)
    try screen.wait(for: "end=0.")
    try expect(running.wait(), equals: 0)
    let shown = screen.transcript
    #expect(shown.contains("notes                line one\r\n                     line two\r\n"), "\(shown)")
    #expect(
      shown.contains("code                 yes") && shown.contains("password             ********"),
      "\(shown)")
    #expect(!shown.contains("geheim") && !shown.contains("canary"))
    try expect(tool("show", "shop", "--json").json["hasCode"] as? Bool, equals: true)
    try expect(tool("code", "shop").text, equals: "755224\n")
  }

  @Test("in a locked vault 'show' asks nothing and shows nothing that is sealed; --reveal asks")
  func locked() throws {
    let tool = try Self.make(passcode: "pass word 1")
    let derivations = tool.home.path + "/derivations"
    tool.environment["VAULTCTL_TESTING_DERIVATIONS"] = derivations
    for words in [
      ["show", "shop"], ["show", "shop", "--json"], ["find", "anna", "--json"],
    ] {
      let run = try tool.run(words)
      expect(0, run)
      for sealed in ["canary", "geheim", "4711", "PIN of card", "other.example", "anna@", "line"] {
        #expect(!run.text.contains(sealed) && !run.errors.contains(sealed), "\(run.text)")
      }
      #expect(run.text.contains("shop.example"))
    }
    #expect(!FileManager.default.fileExists(atPath: derivations))
    expect(0, try tool("show", "shop"), "--reveal shows it, and asks for what opens it")
    expect(6, try tool("show", "shop", "--reveal", "--no-input"))
    let run = try tool("show", "shop", "--reveal", "--passcode-file", tool.home.path + "/passcode")
    #expect(
      run.exit == 0 && run.text.contains("customer = 4711=x") && run.text.contains("canary"), "\(run.text)")
  }

  @Test("values that do not show as themselves are described, and reach no terminal")
  func hiddenCharacters() throws {
    let tool = try Self.make()
    let odd = try tool.file("odd", "a\u{1B}[2Jb")
    let lines = try tool.file("lines", "one\ntwo\nthree\n")
    expect(
      0,
      try tool(
        "add", "odd", "--no-password", "--field-file", "x=\(odd)", "--field-file", "y=\(lines)"))
    let edit = try tool.program(
      "show-all", "#!/bin/sh\nsed -i -e 's/^hidden /field /' -e 's/^base64 hidden /base64 field /' \"$1\"\n")
    tool.environment["EDITOR"] = edit
    expect(0, try tool("edit", "odd", "--editor"), "changed: \"x\", \"y\"")
    let run = try tool("show", "odd")
    #expect(
      run.text.contains("x = (1 line, 6 bytes)") && run.text.contains("y = (3 lines, 14 bytes)"),
      "\(run.text)")
    #expect(!run.text.contains("\u{1B}"))
    try expect(tool("get", "odd", "--field", "x").text, equals: "a\u{1B}[2Jb")
    try expect(tool("get", "odd", "--field", "y").text, equals: "one\ntwo\nthree\n")
  }

  @Test("a copy of a field or an attribute goes to the clipboard, and --version is for what is sealed")
  func copied() throws {
    let tool = try Self.make()
    expect(
      9, try tool("get", "shop", "--field", "PIN of card", "--copy"), "there is no clipboard here")
    expect(9, try tool("get", "shop", "user", "--copy"), "there is no clipboard here")
    expect(2, try tool("get", "shop", "--field", "account", "--version", "1"), "--version is for")
  }
}

/// What is refused before anybody is asked for a passcode, with a line that names it.
///
/// Verified to fail when the fields are read after the vault is unlocked.
@Suite("Bad input for entries", .bounded)
struct EntryInputTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let words: [String]
    let exit: Int32
    let says: String
    var testDescription: String { words.map { String($0.prefix(40)) }.joined(separator: " ") }

    init(_ words: [String], _ exit: Int32, _ says: String) {
      (self.words, self.exit, self.says) = (words, exit, says)
    }
  }

  private static let cases: [Case] = [
    Case(["--field", "=x"], 12, "--field number 1: the name of a field is empty"),
    Case(["--field", String(repeating: "n", count: 300) + "=x"], 12, "has more than 255 bytes"),
    Case(["--field", "a=1", "--field", "a=2"], 2, "--field number 2: the field \"a\" is given twice"),
    Case(["--field", "a=1", "--field-fd", "a=3"], 2, "the field \"a\" is given twice"),
    Case(["--field", "novalue"], 2, "--field number 1 has no ="),
    Case(["--field", "a\u{202E}b=x"], 12, "has a character that does not show: U+202E"),
    Case(["--field", "a\nb=x"], 12, "--field has a control character"),
    Case(["--field-fd", "a=b=3"], 2, "--field-fd number 1 takes the number of an open descriptor"),
    Case(["--field-fd", "PIN=x"], 2, "takes the number of an open descriptor after the ="),
    Case(["--field-fd", "a=3", "--field-fd", "b=3"], 2, "name the same descriptor, 3"),
    Case(["--field-fd", "a=3", "--notes-fd", "3"], 2, "name the same descriptor, 3"),
    Case(["--field-fd", "a=0"], 2, "descriptor 0 is standard input, which this command reads"),
    Case(["--field-fd", "a=77"], 2, "descriptor 77 is not open for reading"),
    Case(["--field-file", "a=/nonexistent"], 13, "--field-file number 1, /nonexistent"),
    Case(["--field-file", "a=@/folder"], 12, "is a directory, and no file"),
    Case(["--notes-file", "@/fifo"], 12, "is a pipe, and no file"),
    Case(["--notes-file", "@/binary"], 12, "--notes-file: the content of the notes is not text in UTF-8"),
    Case(["--notes-file", "@/big"], 12, "is too long, at most 256 KiB are allowed"),
    Case(["--notes-file", "@/empty"], 12, "--notes-file has nothing in it"),
    Case(["--field-file", "a=@/most"], 0, ""),
    Case(["--field-file", "a=@/more"], 12, "the field \"a\" has more than 64 KiB"),
    Case(["--field-file", "a=@/binary"], 12, "the field \"a\" is not text in UTF-8"),
    Case((1...65).flatMap { ["--field", "f\($0)=x"] }, 12, "an entry has at most 64 fields"),
    Case((1...64).flatMap { ["--field", "f\($0)=x"] }, 0, ""),
    Case(["--url", ""], 12, "--url number 1: an address is text on one line"),
    Case(["--tag", ""], 12, "--tag number 1 is empty"),
    Case(["--tag", "a\u{200B}"], 12, "--tag number 1 has a"),
    Case(["--notes-fd", "3", "--notes-file", "@/most"], 2, "one of them is enough"),
    Case(["--field=a=otpauth://totp/x?secret=GEZDGNBV"], 2, "is a one-time-password URI"),
  ]

  @Test("is refused with a line that names it, before the passcode is asked for", arguments: cases)
  func refused(test: Case) throws {
    let tool = try Tool()
    let passcode = try tool.file("passcode", "pass word 1")
    expect(0, try tool("init", "--passcode-file", passcode))
    let home = tool.home.path
    try FileManager.default.createDirectory(atPath: home + "/folder", withIntermediateDirectories: false)
    unsafe expect(mkfifo(home + "/fifo", 0o600), equals: 0)
    for (name, bytes) in [
      ("binary", [0xFF, 0xFE]), ("empty", []), ("most", [UInt8](repeating: 65, count: 64 << 10)),
      ("more", [UInt8](repeating: 65, count: 64 << 10 + 1)),
      ("big", [UInt8](repeating: 65, count: 256 << 10 + 1)),
    ] as [(String, [UInt8])] { try Data(bytes).write(to: URL(fileURLWithPath: home + "/" + name)) }
    let words = ["add", "n"] + test.words.map { $0.replacing("@", with: home) }
    // Where it is accepted, the passcode is next.
    let run = try tool.run(words + ["--no-input"], input: [1], secrets: [3: "value"])
    expect(test.exit == 0 ? 6 : test.exit, run, test.exit == 0 ? "the passcode is needed" : test.says)
    if test.exit == 0 {
      expect(0, try tool.run(words + ["--passcode-file", passcode], input: [1], secrets: [3: "value"]))
    }
  }

  @Test("a descriptor of a file that others can read is named, and the value is stored")
  func exposed() throws {
    let tool = try EntryVerbTests.make()
    let path = try tool.file("open", "x", mode: 0o644)
    let run = try tool("edit", "shop", "--field-file", "x=\(path)")
    expect(0, run, "every user of this system can read the file of --field-file number 1, x, \(path)")
  }

  @Test("a limit of all together is found before the passcode too")
  func together() throws {
    let tool = try EntryVerbTests.make()
    let path = try tool.file("most", String(repeating: "x", count: 64 << 10))
    let words = (1...4).flatMap { ["--field-file", "f\($0)=\(path)"] }
    expect(12, try tool.run(["add", "n"] + words, input: [1]), "have at most 256 KiB together")
    expect(1, try tool("get", "n"))
  }
}
