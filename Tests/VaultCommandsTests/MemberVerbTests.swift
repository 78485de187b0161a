import Foundation
import TestSupport
import Testing

/// Members that are no phrases: the login password through PAM, with a service of the test's own.
@Suite("Members that are advisory", .bounded, .serialized)
struct MemberVerbTests {
  /// A vault with the passcode `p`, the login password and a phrase as members, and three items: `watched` asks presence,
  /// `finger` biometry, `locked` the passcode.
  private func newTool(password: String = "1234") throws -> Tool {
    let tool = try Tool()
    try makeService(tool, password)
    try expect(tool("init", "--passcode-fd", "3", secrets: [3: "p"]).exit, equals: 0)
    let enrolled = try tool(
      "biometry", "enroll", "--source", "login", "--passcode-fd", "3", secrets: [3: "p"])
    expect(enrolled.exit, equals: 0, "\(enrolled.errors)")
    #expect(enrolled.errors.contains("advisory"))
    let phrase = try tool(
      "biometry", "enroll", "voice", "--passcode-fd", "3", "--phrase-fd", "4",
      secrets: [3: "p", 4: "my voice"])
    expect(phrase.exit, equals: 0, "\(phrase.errors)")
    for (name, rule) in [("watched", "presence"), ("finger", "biometry-any"), ("locked", "passcode")] {
      let added = try tool(
        "add", name, "--access", rule, "--accessible", "after-first-unlock", "--passcode-fd", "3",
        input: Array(name.utf8), secrets: [3: "p"])
      expect(added.exit, equals: 0, "\(added.errors)")
    }
    return tool
  }

  private func makeService(_ tool: Tool, _ password: String) throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: "/usr/lib")
    let module = try #require(
      folders.map { "/usr/lib/\($0)/pam_wrapper/pam_matrix.so" }
        .first { FileManager.default.fileExists(atPath: $0) },
      "pam_matrix is not installed: scripts/install-deps")
    let folder = tool.home.appendingPathComponent("pam.d")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let passwords = try tool.file("passdb", "\(NSUserName()):\(password):vaultctl\n")
    let line = "required \(module) passdb=\(passwords)"
    try Data("auth \(line)\naccount \(line)\n".utf8).write(to: folder.appendingPathComponent("vaultctl"))
    tool.environment["VAULTCTL_TESTING_PAM"] = folder.path
  }

  /// Runs a command on a terminal that controls it, typing `answer` when PAM asks.
  private func onTerminal(_ tool: Tool, _ words: [String], _ answer: String) throws -> (
    exit: Int32, text: String
  ) {
    let screen = try PseudoTerminal()
    let running = try tool.start(words, on: screen)
    try screen.wait(for: "read the secret: '\(words.last ?? "")'")
    try screen.wait(for: "phrase of voice: ")
    screen.type("\n")
    try screen.wait(for: "read the secret: '\(words.last ?? "")'")
    try screen.wait(for: "login password: ")
    #expect(!screen.echoes)
    screen.type(answer)
    let exit = try running.wait()
    #expect(screen.echoes)
    return (
      exit, String(decoding: try Data(contentsOf: tool.home.appendingPathComponent("output")), as: UTF8.self)
    )
  }

  @Test("the login password as a member: right opens, wrong is exit 3, Ctrl-C exit 5, nobody exit 6")
  func login() throws {
    let tool = try newTool()
    let list = try tool("biometry", "list").text
    #expect(list.contains("login  login") && list.contains("voice  phrase"), "\(list)")
    // The enrolled set is the phrase's alone: nothing is lost with the login password.
    let removed = try tool("biometry", "remove", "login")
    #expect(removed.exit == 0 && removed.errors.isEmpty, "\(removed.errors)")
    try expect(
      tool("biometry", "enroll", "--source", "login", "--passcode-fd", "3", secrets: [3: "p"]).exit, equals: 0
    )
    try expect(
      tool("biometry", "enroll", "--source", "login", "--passcode-fd", "3", secrets: [3: "p"]).exit, equals: 8
    )
    // An empty phrase leaves the question to PAM.
    #expect(try onTerminal(tool, ["get", "watched"], "1234\n") == (0, "watched"))
    #expect(try onTerminal(tool, ["get", "watched"], "4321\n") == (3, ""))
    #expect(try onTerminal(tool, ["get", "watched"], "\u{3}") == (5, ""))
    try expect(tool("get", "watched", "--no-input").exit, equals: 6)
    try expect(tool("get", "watched").exit, equals: 6)
    // Whoever gives the passcode is asked by nobody else.
    let given = try tool("get", "watched", "--no-input", "--passcode-fd", "3", secrets: [3: "p"])
    #expect(given.exit == 0 && given.text == "watched", "\(given.errors)")
    let phrase = try tool("get", "finger", "--no-input", "--phrase-fd", "3", secrets: [3: "my voice"])
    #expect(phrase.exit == 0 && phrase.text == "finger", "\(phrase.errors)")
    let shown = try tool("show", "watched").text
    #expect(
      shown.contains("  advisory in this process: PAM gives no key: whoever has the device key"), "\(shown)")
    for name in ["locked", "finger"] {
      #expect(try tool("show", name).text.contains("enforced by key derivation"))
    }
  }

  @Test("without a service there is nothing to enrol: exit 15, and what to do")
  func noService() throws {
    let tool = try newTool()
    tool.environment["VAULTCTL_TESTING_PAM"] = tool.home.path
    let run = try tool("biometry", "enroll", "--source", "login", "--passcode-fd", "3", secrets: [3: "p"])
    expect(run.exit, equals: 15)
    #expect(run.errors.contains("scripts/install-pam"))
    try expect(
      tool("biometry", "enroll", "--source", "login", "x", "--passcode-fd", "3", secrets: [3: "p"]).exit,
      equals: 2)
    try expect(tool("biometry", "enroll", "--passcode-fd", "3", secrets: [3: "p"]).exit, equals: 2)
  }

  /// What "advisory" means, and what it does not reach. Fails, in its second half, when an item's key hangs on a yes.
  @Test(
    "a preloaded library that makes PAM say yes opens an advisory item, and no item enforced by key derivation"
  )
  func preload() throws {
    let tool = try newTool()
    let source = try tool.file("yes.c", Self.library)
    let library = tool.home.path + "/yes.so"
    let compiler = Child(
      "/usr/bin/env", ["clang", "-shared", "-fPIC", "-o", library, source],
      ["PATH": tool.environment["PATH"] ?? ""])
    try #require(try compiler.start().wait() == 0)
    try expect(tool("get", "watched").exit, equals: 6)
    tool.environment["LD_PRELOAD"] = library
    let opened = try tool("get", "watched")
    #expect(opened.exit == 0 && opened.text == "watched", "\(opened.errors)")
    // The yes is for presence: biometry by a phrase wants the phrase.
    let biometry = try tool("get", "finger")
    #expect(biometry.exit == 6 && biometry.output.isEmpty)
    let closed = try tool("get", "locked")
    #expect(closed.exit == 6 && closed.output.isEmpty)
    let wrong = try tool("get", "locked", "--passcode-fd", "3", secrets: [3: "wrong"])
    #expect(wrong.exit == 3 && wrong.output.isEmpty)
    try expect(tool("get", "locked", "--passcode-fd", "3", secrets: [3: "p"]).text, equals: "locked")
  }

  private static let library = """
    int pam_authenticate(void *handle, int flags) { return 0; }
    int pam_acct_mgmt(void *handle, int flags) { return 0; }
    """

  @Test("a passcode through pinentry, where there is no terminal and where --prompt asks for it")
  func pinentry() throws {
    let tool = try newTool()
    let script = """
      #!/bin/sh
      echo OK
      while read -r line; do
        echo "$line" >> '\(tool.home.path)/heard'
        case "$line" in GETPIN) echo 'D p'; echo OK;; BYE) exit;; *) echo OK;; esac
      done
      """
    tool.environment["VAULTCTL_PINENTRY"] = try tool.program("pinentry", script)
    // Neither a terminal nor a display: nobody can be asked.
    let nobody = try tool("get", "locked")
    expect(nobody.exit, equals: 6)
    // Why nobody could be asked, and both ways out. Verified to fail when the prompt's own reason is dropped.
    for words in [
      "there is neither a terminal nor a display", "give --passcode-fd N", "start it on a terminal",
    ] {
      #expect(nobody.errors.contains(words), "\(nobody.errors)")
    }
    tool.environment["DISPLAY"] = ":0"
    for words in [["get", "locked"], ["get", "locked", "--prompt", "pinentry"]] {
      let run = try tool.run(words)
      #expect(run.exit == 0 && run.text == "locked", "\(run.errors)")
    }
    try expect(tool("get", "locked", "--prompt", "terminal").exit, equals: 6)
    try expect(tool("get", "locked", "--prompt", "none").exit, equals: 6)
    try expect(tool("add", "new", "--generate", "8").exit, equals: 0)
    let heard = try String(contentsOfFile: tool.home.path + "/heard", encoding: .utf8)
    #expect(heard.contains("SETPROMPT vault passcode:"))
    #expect(heard.contains("read the secret: 'locked'"))
    #expect(heard.contains("vaultctl add 'new'"))
    tool.environment["VAULTCTL_PINENTRY"] = "pinentry"
    let bad = try tool("get", "locked", "--prompt", "pinentry")
    expect(bad.exit, equals: 6)
    #expect(bad.errors.contains("VAULTCTL_PINENTRY") && bad.errors.contains("--passcode-fd"), "\(bad.errors)")
    #expect(
      try tool("add", "other", "--generate", "8", "--prompt", "pinentry").errors.contains(
        "VAULTCTL_PINENTRY"))
  }

  @Test("doctor says who can be asked")
  func doctor() throws {
    let tool = try newTool()
    tool.environment["DBUS_SYSTEM_BUS_ADDRESS"] = "unix:path=/nonexistent"
    let text = try tool("vault", "doctor").text
    #expect(text.contains("ok       prompt: nobody can be asked from here"))
    #expect(text.contains("ok       fingerprint: fingers cannot be members: there is no system bus"))
    tool.environment["DISPLAY"] = ":0"
    tool.environment["VAULTCTL_PINENTRY"] = "/bin/true"
    #expect(try tool("vault", "doctor").text.contains("secrets are asked for by /bin/true"))
  }
}
