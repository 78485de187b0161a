import Foundation
import Glibc
import HTTPTransport
import TestSupport
import Testing

@Suite("Configurations of vault-http", .bounded)
struct ConfigurationTests {
  private static let good = #""version":1,"origins":["https://bank.example"]"#
  private static func operation(_ members: String) -> String {
    #"{\#(good),"operations":{"go":{\#(members)}}}"#
  }
  private static func with(_ member: String) -> String { #"{\#(good),"mapping":"oauth",\#(member)}"# }

  static let flaws: [(String, String)] = [
    ("", "'{' is missing"), ("[]", "'{' is missing"), ("{", "'\"' is missing"),
    (#"{"version":2}"#, "it is not 1, in 'version'"),
    (#"{"origins":["https://a"],"mapping":"oauth"}"#, "'version' is missing"),
    (#"{"version":1,"mapping":"oauth"}"#, "'origins' is missing"),
    (#"{\#(good)}"#, "either 'mapping' or 'operations'"),
    (#"{\#(good),"mapping":"oauth","operations":{}}"#, "either 'mapping' or 'operations'"),
    (#"{\#(good),"mapping":"bank"}"#, "there are oauth, striga, transport"),
    (with(#""pin":{}"#), "'pin' is no member"), (with(#""version":1"#), "'version' is there twice"),
    (with("\"p\u{202E}in\":{}"), #"'p\u{202E}in' is no member"#),
    (
      with("\"pins\":{\"bank.example\":[\"\(pin)\"],\"bank\u{200B}.example\":7}"),
      #"in 'bank\u{200B}.example'"#
    ),
    (with(#""anchors":"ca.pem""#), "not absolute"),
    (with(#""proxy":"http://u:p@p:1""#), "without a password"),
    (with(#""proxy":"ftp://p:1""#), "a proxy is"), (with(#""proxy":"http://p""#), "a proxy is"),
    (with(#""seconds":0"#), "1 to 58"), (with(#""seconds":59"#), "1 to 58"),
    (with(#""connectSeconds":-1"#), "wanted"),
    (with(#""pins":{"bank.example":["abc"]}"#), "44 characters"),
    (with(#""pins":{"bank.example":[]}"#), "1 to 16 pins"),
    (with(#""pins":{"bank.exemple":["\#(pin)"]}"#), "no host of 'origins'"),
    (with(#""pins":{"bank.example:443":["\#(pin)"]}"#), "no host of 'origins'"),
    (with(#""pins":{"https://bank.example":["\#(pin)"]}"#), "no host of 'origins'"),
    (with(#""pins":{"bank.example":["\#(pin)"],"BANK.example":["\#(pin)"]}"#), "is there twice"),
    (#"{\#(good),"mapping":"oauth"} {}"#, "text after the object"),
    (operation(#""path":"/x""#), "'method' is missing"),
    (operation(#""method":"HEAD","path":"/x""#), "a method is"),
    (operation(#""method":"GET""#), "'path' is missing"),
    (operation(#""method":"GET","path":"x""#), "a path begins"),
    (operation(#""method":"GET","path":"//evil/x""#), "a path begins"),
    (operation(#""method":"GET","path":"/{a""#), "a path begins"),
    (operation(#""method":"GET","path":"/a b""#), "a path begins"),
    (operation(#""method":"GET","path":"/{codeBase64}""#), "a secret"),
    (operation(#""method":"GET","path":"/x","send":"json""#), "a GET has no body"),
    (operation(#""method":"POST","path":"/x","send":"xml""#), "'send' is"),
    (operation(#""method":"POST","path":"/x","fields":{}"#), "'fields' are of"),
    (operation(#""method":"POST","path":"/x","send":"json","fields":{"a":"}"}"#), "brace"),
    (operation(#""method":"POST","path":"/x","send":"raw""#), "with 'raw'"),
    (operation(#""method":"GET","path":"/x","headers":{"Host":"x"}"#), "no name of a header"),
    (operation(#""method":"GET","path":"/x","headers":{"a b":"x"}"#), "no name of a header"),
    (operation(#""method":"GET","path":"/x","answer":"all""#), "an answer is"),
    (operation(#""method":"GET","path":"/x","answer":{"id":"x"}"#), "cannot be set"),
    (operation(#""method":"GET","path":"/x","answer":{"a":"b..c"}"#), "the name of a member"),
    (operation(#""method":"GET","path":"/x","errors":[{"code":"CODE"}]"#), "'status' is missing"),
    (operation(#""method":"GET","path":"/x","errors":[{"status":"4x","code":"CODE"}]"#), "a status is"),
    (
      operation(#""method":"GET","path":"/x","errors":[{"status":"404","code":"WRONG"}]"#),
      "no word of the transport page"
    ),
    (
      operation(#""method":"GET","path":"/x","errors":[{"status":"404","code":"SN","equals":"x"}]"#),
      "'equals' needs"
    ),
    (operation(#""method":"GET","path":"/x","retry":true"#), "'retry' is no member"),
  ]
  private static let pin = "gELcdKercEhotz1H5u+c0QiJrJbTA6dzpl++KCtVEUk="

  /// Verified to fail when an unknown member is skipped.
  @Test("what is malformed is said, and nothing is sent", arguments: flaws)
  func malformed(text: String, flaw: String) throws {
    let sender = try Sender(path: "/echo")
    try sender.write(Data(text.utf8))
    let answer = try sender.send()
    #expect(answer.exit == 0 && answer.code == "OTHER", "\(answer.text)")
    #expect(answer.message?.hasPrefix("the configuration \(sender.path) is malformed: ") == true)
    #expect(answer.message?.contains(flaw) == true, "\(answer.text)")
  }

  @Test(
    "an origin is https, a host and a port, and nothing else",
    arguments: [
      "http://bank.example", "https://bank.example/", "https://bank.example/x", "https://bank.example?x",
      "https://u@bank.example", "https://u:p@bank.example", "https://bank.example#x", "bank.example",
      "https://",
      "https://bank.example:0x50", "https://bank.example:99999", "https://bank example",
      "https://b\u{F6}.example", "https://b%C3%B6.example", "https://[fe80::1%25lo]", "",
    ])
  func origins(text: String) throws {
    let sender = try Sender(path: "/echo", ["origins": [text]])
    let answer = try sender.send()
    #expect(
      answer.code == "OTHER" && answer.message?.contains("an origin is https") == true, "\(answer.text)")
  }

  /// A sender, and its configuration or its own file of anchors.
  private func sender(with name: String) throws -> (Sender, file: String) {
    let sender = try Sender(path: "/echo")
    guard name == "anchors" else { return (sender, sender.path) }
    let file = sender.folder.path + "/anchors"
    try FileManager.default.copyItem(atPath: sender.servers.file("anchor.pem"), toPath: file)
    let text = try String(contentsOfFile: sender.path, encoding: .utf8)
    let old = sender.servers.file("anchor.pem").replacing("/", with: "\\/")
    try sender.write(Data(text.replacing(old, with: file).utf8))
    return (sender, file)
  }

  /// Verified to fail when the owner is not looked at.
  @Test("a file of another user is refused", arguments: ["configuration", "anchors"])
  func foreign(name: String) throws {
    try needRoot("a file of another user")
    let (sender, file) = try sender(with: name)
    unsafe chown(file, 65534, 65534)
    #expect(try sender.send().message?.contains("belongs to another user") == true)
  }

  /// Verified to fail when the mode is not looked at.
  @Test("a file that others can change is refused, and so is one of anchors")
  func files() throws {
    for name in ["configuration", "anchors"] {
      let (sender, file) = try sender(with: name)
      for mode: mode_t in [0o620, 0o602] {
        unsafe chmod(file, mode)
        let answer = try sender.send()
        #expect(
          answer.code == "OTHER" && answer.message?.contains("can be changed by others") == true,
          "\(answer.text)")
      }
      unsafe chmod(file, 0o644)
      #expect(try sender.send().members["path"] != nil)
      unsafe unlink(file)
      #expect(try sender.send().message?.contains("does not exist") == true)
      unsafe mkdir(file, 0o700)
      #expect(try sender.send().message?.contains("is not a file") == true)
    }
  }

  /// Verified to fail when the path is not looked at.
  @Test("a file in a directory that others can write to is refused, and so is one of anchors")
  func directories() throws {
    for name in ["configuration", "anchors"] {
      let (sender, file) = try sender(with: name)
      let folder = URL(fileURLWithPath: file).deletingLastPathComponent().path
      for (mode, isOpen) in [(0o777, true), (0o702, true), (0o1777, false), (0o755, false)] {
        unsafe chmod(folder, mode_t(mode))
        let message = try sender.send().message
        #expect(
          (message?.contains("can be replaced by others, who own \(folder)") == true) == isOpen)
      }
    }
  }

  @Test("a first line that names an interpreter is skipped, and lines and indents count for nothing")
  func interpreter() throws {
    let sender = try Sender(path: "/echo")
    let text = try Data(contentsOf: URL(fileURLWithPath: sender.path))
    try sender.write(Data("#!/usr/local/bin/vault-http --no-host-check\n\n".utf8) + text + Data("\n\n".utf8))
    try expect(sender.send().members["path"] as? String, equals: "/echo")
  }

  @Test("--help and the manual page explain the same options")
  func help() throws {
    let sender = try Sender(path: "/echo")
    let run = try sender.run([], words: [sender.path, "--help"])
    #expect(run.exit == 0 && run.errors.isEmpty && run.text.hasPrefix("Usage: vault-http "), "\(run)")
    expect(try sender.run([], words: ["-h"]).text, equals: run.text)
    let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let page = tests.deletingLastPathComponent().appending(path: "docs/man/vault-http.1")
    let explained = try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
      .filter { $0.hasPrefix(".It Fl ") }
      .compactMap { line in line.split(separator: " ").last { $0.hasPrefix("-") }.map { "-\($0)" } }
    let helped = run.text.split(separator: "\n").filter { $0.hasPrefix("  -") }
      .compactMap { line in line.split(separator: " ").first { $0.hasPrefix("--") }.map(String.init) }
    expect(helped, equals: explained)
    expect(explained.count, equals: 4)
  }

  @Test("wrong usage, and what is no request, end with 2 and a line on standard error")
  func usage() throws {
    let sender = try Sender(path: "/echo")
    let line = try Sender.line("go")
    for words in [
      [], [sender.path, sender.path], ["--insecure", sender.path], ["--client-certificate-fd", sender.path],
      ["--client-certificate-fd", "2", sender.path], ["--print-mapping"],
      ["--print-mapping", "oauth", sender.path],
    ] {
      let run = try sender.run(line, words: words)
      #expect(
        run.exit == 2 && run.text.isEmpty && run.errors.contains("usage: vault-http"), "\(words): \(run)")
    }
    for input in [
      "", "{}", #"{"version":2,"id":"\#(Sender.id)","operation":"go"}"#,
      #"{"version":1,"id":"5b","operation":"go"}"#,
      #"{"version":1,"id":"\#(Sender.id)"}"#,
      #"{"version":1,"id":"\#(Sender.id)","operation":"go","operation":"go"}"#,
      #"{"version":1,"id":"\#(Sender.id)","operation":"go"} x"#, String(repeating: " ", count: 3 << 20),
      #"{"version":1,"id":"\#(Sender.id)","operation":"go","aBase64":"A"}"#,
    ] {
      let run = try sender.run(Array(input.utf8), words: [sender.path])
      #expect(
        run.exit == 2 && run.text.isEmpty && run.errors.contains("has no request"),
        "\(input.prefix(80)): \(run)")
    }
  }

  /// Verified to fail when the failure is not told.
  @Test("what cannot be written ends with 13 and a line on standard error")
  func unwritten() throws {
    let sender = try Sender(path: "/echo")
    for words in [["--help"], ["--print-mapping", "oauth"], [sender.path]] {
      for target in ["/dev/full", nil] {
        let (given, errors) = (try Scratch(Sender.line("go")), try Scratch())
        var child = Child(Built.path("vault-http"), words, [:])
        child.copy(given.descriptor, to: 0)
        if let target { child.open(1, target, flags: O_WRONLY) } else { child.close(1) }
        child.copy(errors.descriptor, to: 2)
        try expect(child.start().wait(), equals: 13, "\(words)")
        let line = String(decoding: errors.content, as: UTF8.self)
        #expect(line.hasPrefix("vault-http: standard output cannot be written: "), "\(words): \(line)")
      }
    }
  }
}
