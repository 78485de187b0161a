import Foundation
import TestSupport
import Testing

/// Text as other programs write it and as people paste it: FL4, FL5, FL8, FL20.
@Suite("Text from elsewhere", .bounded, .serialized)
struct LineTests {
  private static let passcode = "caf\u{E9} passcode"
  private static let mark = "\u{FEFF}"
  private static let key =
    "-----BEGIN OPENSSH PRIVATE KEY-----\rb3BlbnNzaC1r\rsecond line\r-----END OPENSSH PRIVATE KEY-----\r"

  private func tool(passcode: String? = nil) throws -> Tool {
    let tool = try Tool()
    let protection = passcode == nil ? ["--no-passcode"] : ["--passcode-fd", "3"]
    let words = ["init", "--no-recovery-code"] + protection
    try expect(tool.run(words, secrets: passcode.map { [3: $0] } ?? [:]).exit, equals: 0)
    let opening = passcode == nil ? [] : ["--passcode-fd", "3"]
    let added = try tool.run(
      ["add", "it"] + opening, input: Array("old".utf8), secrets: passcode.map { [3: $0] } ?? [:])
    expect(added.exit, equals: 0)
    return tool
  }

  /// ASCII as UTF-16.
  private func wide(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    for byte in text.utf8 { bytes += [byte, 0] }
    return bytes
  }

  /// Verified to fail when `SecretReading.line` drops LF alone, and when a passcode is not prepared.
  @Test("a passcode is read from each file, and what is wrong with one is told before an attempt is counted")
  func passcodeFiles() throws {
    let tool = try tool(passcode: Self.passcode)
    for text in [
      Self.passcode + "\r\n", Self.mark + Self.passcode + "\n", Self.passcode + "\r", "cafe\u{301} passcode",
      "caf\u{E9}\u{A0}passcode",
    ] {
      let path = try tool.file("pc", text)
      let run = try tool("get", "it", "--passcode-file", path)
      #expect(run.exit == 0 && run.text == "old", "\(run.exit) \(run.errors)")
    }
    let utf16 = Self.passcode.utf16.map { String(UnicodeScalar(UInt8($0 & 0x7F))) + "\0" }.joined()
    for (text, what) in [
      (Self.passcode + "\n\n", "has several lines"), (Self.passcode + " \n", "ends with a blank"),
      (" " + Self.passcode, "begins with a blank"),
      (Self.mark + Self.mark + Self.passcode, "begins with a byte order mark"),
      (Self.passcode + "\u{2028}", "has several lines"),
      (utf16, "is UTF-16"), ("a\u{1B}b", "control character"),
    ] {
      let path = try tool.file("pc", text)
      let run = try tool("get", "it", "--passcode-file", path)
      #expect(run.exit == 12 && run.errors.contains(what), "\(run.exit) \(run.errors)")
    }
    // A credential of systemd is the same line.
    tool.environment["CREDENTIALS_DIRECTORY"] = tool.home.path
    _ = try tool.file("vaultctl.passcode", Self.mark + Self.passcode + "\r\n", mode: 0o400)
    try expect(tool("get", "it").text, equals: "old")
    tool.environment["CREDENTIALS_DIRECTORY"] = nil
    let wrong = try tool("get", "it", "--passcode-file", tool.file("pc", "wrong"))
    #expect(wrong.exit == 3 && wrong.errors.contains("4 attempts left"), "\(wrong.errors)")
  }

  /// Verified to fail when `Secrets.line` drops one newline alone.
  @Test("a URI, a key and a code lose the blanks around them, and a code those inside of it")
  func trimmed() throws {
    let tool = try tool()
    let uri = "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0"
    for (index, text) in [uri + "\r\n", Self.mark + uri, "  \(uri)\t\n\n"].enumerated() {
      try expect(tool("otp", "add", "u\(index)", input: Array(text.utf8)).exit, equals: 0)
    }
    for (format, text) in [
      ("base32", Self.mark + "GEZD\u{A0}GNBV\u{2011}GY3T QOJQ\tGEZDGNBVGY3TQOJQ\r\n"),
      ("hex", "3132 3334-3536 3738 3930 3132 3334 3536 3738 3930\r\n"),
    ] {
      let words = ["otp", "add", format, "--suite", "OCRA-1:HOTP-SHA1-6:QN08", "--secret-format", format]
      let added = try tool.run(words, input: Array(text.utf8))
      #expect(added.exit == 0, "\(format): \(added.errors)")
      for question in ["00000000", "0000 0000", "0000\u{2013}0000"] {
        let code = try tool("transaction", "sign", format, "--question", question)
        #expect(code.text.hasPrefix("237653"), "\(format): \(code.text) \(code.errors)")
      }
    }
    try expect(
      tool("otp", "add", "v", "--role", "verifier", input: Array(uri.utf8)).exit, equals: 0)
    for code in ["755 224\r\n", "287\u{A0}082", "359\u{2013}152 ", "\u{FF19}\u{FF16}9429"] {
      let run = try tool("otp", "verify", "v", input: Array(code.utf8))
      #expect(run.exit == 0, "\(code): \(run.errors)")
    }
    let found = try tool("otp", "resync", "v", input: Array("338 314 254 676".utf8))
    #expect(found.exit == 0, "\(found.errors)")
  }

  /// Verified to fail when `ByteReader` does not skip the mark.
  @Test("lines of JSON may begin with a mark; UTF-16 is told")
  func jsonLines() throws {
    let tool = try tool()
    let line = #"{"args":["ls"]}"# + "\r\n"
    try expect(tool("vault", "batch", input: Array((Self.mark + line).utf8)).exit, equals: 0)
    let item = #"{"kind":"password","name":"new","secret":"s"}"# + "\n"
    let imported = try tool("import", "jsonl", input: Array((Self.mark + item).utf8))
    #expect(imported.exit == 0, "\(imported.errors)")
    for text in [
      [0xFF, 0xFE] + wide(line), wide(line),
    ] {
      let run = try tool("vault", "batch", input: text)
      #expect(
        run.exit == 12 && (run.errors + run.text).contains("UTF-16"), "\(run.exit) \(run.errors) \(run.text)")
    }
  }

  /// Verified to fail when `KeyFile` keeps the mark.
  @Test("a file with a key may begin with a mark")
  func keyFile() throws {
    let tool = try tool()
    let path = tool.home.path + "/key.pem"
    let made = Child(
      "/usr/bin/openssl", ["genpkey", "-algorithm", "ed25519", "-out", path], tool.environment)
    try expect(made.start().wait(), equals: 0)
    let pem = try String(contentsOfFile: path, encoding: .utf8)
    let run = try tool("key", "import", "k", input: Array((Self.mark + pem).utf8))
    #expect(run.exit == 0, "\(run.errors)")
    let text = [0xFF, 0xFE] + wide(pem)
    let refused = try tool("key", "import", "l", input: text)
    #expect(refused.exit == 12 && refused.errors.contains("UTF-16"), "\(refused.errors)")
  }

  /// Verified to fail when names are stored as they are given.
  @Test("a name in another form is the same name")
  func names() throws {
    let tool = try tool()
    try expect(tool("add", "cafe\u{301}", input: [1]).exit, equals: 0)
    try expect(tool("add", "caf\u{E9}", input: [1]).exit, equals: 8)
    for form in ["caf\u{E9}", "cafe\u{301}"] { try expect(tool("get", form).output, equals: [1]) }
  }

  /// Verified to fail when what follows the line is not looked at, and when the first line of a key is taken.
  @Test(
    "a paste is not a line: nothing is stored or replaced",
    arguments: ["add key --account a --url https://a.example", "edit it --password"])
  func paste(words: String) throws {
    for text in [Self.key, "first line\rsecond line", "one\rtwo\rthree\r"] {
      let tool = try tool()
      let screen = try PseudoTerminal()
      let child = try tool.start(words.split(separator: " ").map(String.init), on: screen)
      try screen.wait(for: words.hasPrefix("add") ? "generated): " : "secret: ")
      screen.type(text)
      try screen.wait(for: "has several lines, so none of it was used", before: " again: ")
      try expect(child.wait(), equals: 12)
      let object = words.split(separator: " ")
      let option = words.hasPrefix("edit") ? " --password" : ""
      try screen.wait(for: "vaultctl \(object[0]) '\(object[1])'\(option) < FILE")
      try expect(tool("get", "it").text, equals: "old")
      try expect(tool("get", "key").exit, equals: 1)
    }
  }

  /// Verified to fail when a second Enter, or the mark after a paste, counts as a second line.
  @Test("one pasted line is a line, also with its newline, and where the terminal marks what is pasted")
  func pastedLine() throws {
    for text in [
      "s3cret\r", "s3cret\r\r", "\u{1B}[200~s3cret\u{1B}[201~\r", "\u{1B}[200~s3cret\r\u{1B}[201~",
    ] {
      let tool = try tool()
      let screen = try PseudoTerminal()
      let words = ["add", "new", "--account", "a", "--url", "https://a.example"]
      let child = try tool.start(words, on: screen)
      try screen.wait(for: "generated): ")
      screen.type(text)
      try screen.wait(for: "password again: ")
      screen.type("s3cret\r")
      try expect(child.wait(), equals: 0)
      try expect(tool("get", "new").text, equals: "s3cret")
    }
  }

  /// Verified to fail when `key import` asks for the file.
  @Test("a file is not asked for on a terminal")
  func files() throws {
    let tool = try tool()
    let screen = try PseudoTerminal()
    let child = try tool.start(["key", "import", "tls"], on: screen)
    try expect(child.wait(), equals: 2)
    try screen.wait(for: "vaultctl key import 'tls' < FILE")
  }

  /// Verified to fail when text is taken as it is where the library is missing.
  @Test("without libunistring, text that needs it is refused, and all other text works")
  func missingLibrary() throws {
    let tool = try tool(passcode: Self.passcode)
    let folder = tool.home.path + "/libraries"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    for version in [2, 5] { _ = try tool.file("libraries/libunistring.so.\(version)", "no library") }
    tool.environment["LD_LIBRARY_PATH"] = folder
    let plain = try tool("get", "it", "--passcode-fd", "3", secrets: [3: Self.passcode])
    #expect(plain.exit == 0, "\(plain.errors)")
    let run = try tool("get", "it", "--passcode-fd", "3", secrets: [3: "cafe\u{301} passcode"])
    #expect(run.exit == 15 && run.errors.contains("libunistring2"), "\(run.exit) \(run.errors)")
    let name = try tool("get", "\u{4E2D}")
    #expect(name.exit == 15 && name.errors.contains("libunistring2"), "\(name.exit) \(name.errors)")
  }
}
