import Foundation
import TestSupport
import Testing

/// Verified to fail when the clipboard is cleared without asking what it holds, when it is not cleared, and when the
/// waiting process keeps the command's standard output.
@Suite("The clipboard", .bounded)
struct ClipboardTests {
  /// A clipboard that is a file, in the place of a program, which notes the words it was called with.
  private static let fake = """
    #!/bin/sh
    echo "$0 $*" >> "$CLIPS/calls"
    case "$*" in
      *paste*|*-out*|*--output*) [ -e "$CLIPS/held" ] && cat "$CLIPS/held" ;;
      *clear*) : > "$CLIPS/held" ;;
      *) case "$0" in *paste*) cat "$CLIPS/held" ;; *) cat > "$CLIPS/new" && mv "$CLIPS/new" "$CLIPS/held" ;; esac ;;
    esac
    """

  private func newTool(_ programs: [String]) throws -> Tool {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    try expect(tool("add", "mail", input: Array("correct horse".utf8)).exit, equals: 0)
    let folder = tool.home.path + "/fakes"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    for program in programs { try install(program, Self.fake, tool) }
    tool.environment["PATH"] = folder + ":/usr/bin:/bin"
    tool.environment["CLIPS"] = tool.home.path
    return tool
  }

  /// A script in the place of a program. A shell writes it: where this process held it open for writing, a child that
  /// another test forks meanwhile would keep it so for a moment, and nobody could run it ("text file busy").
  private func install(_ program: String, _ script: String, _ tool: Tool) throws {
    let path = "\(tool.home.path)/fakes/\(program)"
    let words = ["-c", "/bin/cat > '\(path)' && /bin/chmod 755 '\(path)'"]
    try expect(tool.run(words, input: Array(script.utf8), program: "/bin/sh").exit, equals: 0)
  }

  private func vault(_ tool: Tool) -> String { tool.home.path + "/.local/share/vaultctl/default.vault" }

  /// The words that copy a secret. They name the vault, by which the process that waits is found.
  private func copying(_ name: String, for time: String, _ tool: Tool) -> [String] {
    ["get", name, "--copy", time, "--vault", vault(tool)]
  }

  private func held(_ tool: Tool) -> String? {
    try? String(contentsOfFile: tool.home.path + "/held", encoding: .utf8)
  }

  /// The time is over when the test reads from the pipe.
  @Test(
    "the secret goes to the clipboard of the desktop through a pipe, and is gone after its time",
    arguments: [
      (["wl-copy", "wl-paste"], ["WAYLAND_DISPLAY": "wayland-0"], "wl-copy"),
      (["xclip"], ["DISPLAY": ":9"], "xclip"), (["xsel"], ["DISPLAY": ":9"], "xsel"),
      (["xclip", "wl-copy", "wl-paste"], ["DISPLAY": ":9", "WAYLAND_DISPLAY": "w"], "by where /tmp is"),
    ] as [([String], [String: String], String)])
  func copied(programs: [String], variables: [String: String], used: String) throws {
    let tool = try newTool(programs)
    tool.environment.merge(variables) { $1 }
    if !programs.contains("xclip"), used == "xsel" { try hide("xclip", from: tool) }
    let isInMemory = try tool.run(["-f", "-c", "%T", "/tmp"], program: "/usr/bin/stat").text == "tmpfs\n"
    let used = used.hasPrefix("by") ? (isInMemory ? "wl-copy" : "xclip") : used
    let time = try NamedPipe(tool.home.path + "/time")
    tool.environment["VAULTCTL_TESTING_CLIPBOARD"] = time.path
    let run = try tool.run(copying("mail", for: "90s", tool) + ["--json"])
    expect(run.exit, equals: 0, "\(run.errors)")
    let json = try run.json
    #expect(json["clipboard"] as? String == used && json["clearedAfter"] as? Int == 90)
    #expect(json["copied"] as? Bool == true && json["name"] as? String == "mail")
    #expect(!run.text.contains("correct"))
    try #require(held(tool) == "correct horse")
    try expect(time.text(), equals: "90\n")
    try waitUntil("the clipboard is cleared") { held(tool) == "" }
    let calls = try String(contentsOfFile: tool.home.path + "/calls", encoding: .utf8)
    #expect(calls.split(separator: "\n").count == 3 && !calls.contains("correct"), "\(calls)")
  }

  /// xclip and wl-copy serve what was copied for as long as they live.
  ///
  /// Verified to fail with the tool from before this test, in whose session the program was: it ended with the terminal.
  @Test(
    "the program that keeps the text is in a session of its own, so the end of the terminal does not end it")
  func session() throws {
    let tool = try newTool([])
    try install(
      "xclip",
      "#!/bin/sh\ncat > \"$CLIPS/held\"\nread -r p c s d g session rest < /proc/$$/stat\necho $$ $session > \"$CLIPS/session\"\n",
      tool)
    tool.environment["DISPLAY"] = ":9"
    let time = try NamedPipe(tool.home.path + "/time")
    tool.environment["VAULTCTL_TESTING_CLIPBOARD"] = time.path
    try expect(tool.run(copying("mail", for: "90s", tool)).exit, equals: 0)
    let words = try String(contentsOfFile: tool.home.path + "/session", encoding: .utf8).split(
      whereSeparator: \.isWhitespace)
    #expect(words.count == 2 && words[0] == words[1], "\(words)")
    try expect(time.text(), equals: "90\n")
  }

  /// Verified to fail when the program is in the session of the command.
  @Test("what was copied is there after the terminal has been closed")
  func closedTerminal() throws {
    let tool = try newTool([])
    // As xclip does, it serves the text from a process that it leaves behind.
    try install(
      "xclip",
      """
      #!/bin/sh
      cat > "$CLIPS/held"
      (trap 'echo ended > "$CLIPS/served"; exit' HUP
       : < "$CLIPS/closed"; cp "$CLIPS/held" "$CLIPS/new"; mv "$CLIPS/new" "$CLIPS/served"
      ) < /dev/null > /dev/null 2>&1 &
      """, tool)
    tool.environment["DISPLAY"] = ":9"
    let time = try NamedPipe(tool.home.path + "/time")
    tool.environment["VAULTCTL_TESTING_CLIPBOARD"] = time.path
    let closed = try NamedPipe(tool.home.path + "/closed")
    var screen: PseudoTerminal? = try PseudoTerminal()
    let words = copying("mail", for: "90s", tool).map { "'\($0)'" }.joined(separator: " ")
    let shell = try tool.start(
      shell: "/bin/sh", ["-c", "\"$T\" \(words) && echo is-copied; read -r line"], on: try #require(screen))
    try screen?.wait(for: "is-copied")
    screen = nil
    #expect(try shell.wait() != 0)
    closed.open()
    let served = tool.home.path + "/served"
    try waitUntil("the end of what serves the text") { FileManager.default.fileExists(atPath: served) }
    try expect(String(contentsOfFile: served, encoding: .utf8), equals: "correct horse")
    try expect(time.text(), equals: "90\n")
  }

  /// A program of that name which is not there: the real one may be installed.
  private func hide(_ program: String, from tool: Tool) throws {
    try install(program, "#!/bin/sh\nexit 1\n", tool)
  }

  @Test("a short time passes on the clock of this machine")
  func realTime() throws {
    let tool = try newTool(["xclip"])
    tool.environment["DISPLAY"] = ":9"
    try expect(tool.run(copying("mail", for: "1s", tool)).exit, equals: 0)
    try waitUntil("the clipboard is cleared") { held(tool) == "" }
  }

  @Test("what somebody else has copied since stays")
  func someoneElses() throws {
    let tool = try newTool(["xclip"])
    tool.environment["DISPLAY"] = ":9"
    let run = try tool.run(copying("mail", for: "1d", tool))
    #expect(run.exit == 0 && run.output.isEmpty)
    expect(run.errors, equals: "vaultctl: copied; the clipboard is cleared in 1 d if it still holds this\n")
    expect(held(tool), equals: "correct horse")
    try Data("somebody else's".utf8).write(to: tool.home.appendingPathComponent("held"))
    try endTime(tool)
    #expect(try String(contentsOfFile: tool.home.path + "/calls", encoding: .utf8).contains("-out"))
    expect(held(tool), equals: "somebody else's")
  }

  @Test("the process that waits ends when told, clearing")
  func watcher() throws {
    let (tool, canary, watcher) = try watched()
    expect(held(tool), equals: canary)
    kill(watcher, SIGTERM)
    try waitUntil("the clipboard is cleared") { held(tool) == "" }
    try waitUntil("the process ends") { try watchers(tool).isEmpty }
  }

  @Test("the process that waits holds no secret, no file of the vault and no terminal")
  func core() throws {
    try needRoot("what the process that clears the clipboard holds")
    let (tool, canary, watcher) = try watched()
    // While it begins it has one descriptor more for a moment.
    try waitUntil("no file is open but /dev/null three times") {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/\(watcher)/fd").map {
        try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(watcher)/fd/\($0)")
      } == ["/dev/null", "/dev/null", "/dev/null"]
    }
    let core = tool.home.path + "/core"
    let dump = try tool.run(["-a", "-o", core, "\(watcher)"], program: Shell.need("gcore"))
    expect(dump.exit, equals: 0, "\(dump.errors)")
    let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(core).\(watcher)"))
    #expect(bytes.range(of: Data("CLIPS=".utf8)) != nil, "the search finds nothing at all")
    #expect(bytes.range(of: Data(canary.utf8)) == nil)
    try endTime(tool)
  }

  /// A secret that was copied, and the process that waits.
  private func watched() throws -> (Tool, canary: String, watcher: pid_t) {
    let tool = try newTool(["xclip"])
    tool.environment["DISPLAY"] = ":9"
    let canary = "canary-\(UUID().uuidString)"
    try expect(tool("add", "canary", input: Array(canary.utf8)).exit, equals: 0)
    try expect(tool.run(copying("canary", for: "1d", tool)).exit, equals: 0)
    return (tool, canary, try #require(try watchers(tool).first))
  }

  /// The processes that wait, found by their program and the vault that they name: without root, a test can read nothing else of them.
  private func watchers(_ tool: Tool) throws -> [pid_t] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { pid_t($0) }.filter {
      let words = FileManager.default.contents(atPath: "/proc/\($0)/cmdline")?.split(separator: 0) ?? []
      return words.first == Data(Tool.path.utf8) && words.contains(Data(vault(tool).utf8))
    }
  }

  /// Has the process that waits look at once, as at the end of its time, and waits for its end: no test of what lies
  /// between copying and clearing then depends on how fast this machine is.
  private func endTime(_ tool: Tool) throws {
    let waiting = try watchers(tool)
    expect(waiting.count, equals: 1)
    for pid in waiting { kill(pid, SIGTERM) }
    try waitUntil("the process ends") { try watchers(tool).isEmpty }
  }

  @Test("without a clipboard it is exit 9, nothing is copied and nothing is printed")
  func none() throws {
    let tool = try newTool([])
    tool.environment["TERM"] = "xterm"
    for variables in [[:], ["DISPLAY": ":9"], ["WAYLAND_DISPLAY": "w", "DISPLAY": ":9"]] {
      let path = tool.home.path + "/fakes"
      for program in ["wl-copy", "xclip", "xsel"] { try hide(program, from: tool) }
      tool.environment["PATH"] = path
      tool.environment["DISPLAY"] = variables["DISPLAY"]
      tool.environment["WAYLAND_DISPLAY"] = variables["WAYLAND_DISPLAY"]
      var child = Child(Tool.path, ["get", "mail", "--copy", "--json"], tool.environment)
      child.leadsSession = true  // no terminal to ask either
      child.open(0, "/dev/null")
      child.create(1, tool.home.path + "/output")
      child.create(2, tool.home.path + "/errors")
      try expect(child.start().wait(), equals: 9)
      #expect(try Data(contentsOf: tool.home.appendingPathComponent("output")).isEmpty)
      let errors = try String(contentsOfFile: tool.home.path + "/errors", encoding: .utf8)
      #expect(errors.contains("noClipboard") && errors.contains("hint") && !errors.contains("correct"))
    }
    try expect(tool("get", "mail", "--copy", "--field", "account").exit, equals: 9)
    let batch = try tool("vault", "batch", input: Array(#"{"args":["get","mail","--copy"]}"#.utf8))
    #expect(batch.exit == 2 && batch.text.contains("batch"))
  }

  /// The terminal comes last, and needs no program that could be slow.
  @Test("a clipboard program that hangs is given up, and the next one is tried")
  func hangs() throws {
    let tool = try newTool([])
    tool.environment["DISPLAY"] = ":9"
    tool.environment["TERM"] = "xterm"
    tool.environment["VAULTCTL_TESTING_PATIENCE"] = "1"
    try install("xclip", "#!/bin/sh\nexec sleep infinity\n", tool)
    try hide("xsel", from: tool)
    let screen = try PseudoTerminal()
    let running = try tool.start(copying("mail", for: "1d", tool), on: screen)
    try screen.wait(for: "\u{1B}]52;c;")
    try expect(running.wait(), equals: 0)
    try endTime(tool)
  }

  @Test("a terminal without a desktop is asked by OSC 52, and asked to clear after the time")
  func terminal() throws {
    let tool = try newTool([])
    tool.environment["TERM"] = "xterm-256color"
    let screen = try PseudoTerminal()
    let running = try tool.start(copying("mail", for: "1d", tool), on: screen)
    try expect(running.wait(), equals: 0)
    let base64 = Data("correct horse".utf8).base64EncodedString()
    try screen.wait(for: "\u{1B}]52;c;\(base64)\u{7}")
    try screen.wait(for: "does not tell")
    try endTime(tool)
    try screen.wait(for: "\u{1B}]52;c;!\u{7}")
    #expect(try Data(contentsOf: tool.home.appendingPathComponent("output")).isEmpty)
  }

  @Test("a one-time code is copied too, and its counter is on disk before")
  func code() throws {
    let tool = try newTool(["xclip"])
    tool.environment["DISPLAY"] = ":9"
    let uri = "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0"
    try expect(tool("otp", "add", "rfc", input: Array(uri.utf8)).exit, equals: 0)
    let run = try tool("code", "rfc", "--copy", "1d", "--json", "--vault", vault(tool))
    #expect(try run.json["counter"] as? Int == 0 && run.json["code"] == nil && !run.text.contains("755224"))
    expect(held(tool), equals: "755224")
    try endTime(tool)
    expect(held(tool), equals: "")
    try expect(tool("code", "rfc").text, equals: "287082\n")
  }

  private func startServer(_ program: String, _ tool: Tool) throws -> Child.Running {
    let words = ["-displayfd", "6", "-screen", "0", "64x64x8", "-nolisten", "tcp"]
    var child = Child(program, words, tool.environment)
    child.create(6, tool.home.path + "/display")
    child.create(2, tool.home.path + "/server")
    return try child.start()
  }

  /// The number of the display, which the server writes once it is ready.
  private func display(_ tool: Tool) throws -> String {
    let file = tool.home.path + "/display"
    try waitUntil("Xvfb has a display") {
      (try? String(contentsOfFile: file, encoding: .utf8))?.hasSuffix("\n") == true
    }
    return try ":" + String(contentsOfFile: file, encoding: .utf8).dropLast()
  }

  @Test(
    "a real X server: copied, pasted, cleared; and what was copied since stays", arguments: ["xclip", "xsel"])
  func realServer(program: String) throws {
    let (server, xclip) = (try Shell.need("Xvfb"), try Shell.need("xclip"))
    try Shell.need(program)
    let tool = try newTool([])
    if program == "xsel" { try hide("xclip", from: tool) }
    let running = try startServer(server, tool)
    defer { running.end() }
    tool.environment["DISPLAY"] = try display(tool)
    func paste() throws -> String {
      try tool.run(["-selection", "clipboard", "-out"], program: xclip).text
    }
    let run = try tool.run(copying("mail", for: "1d", tool) + ["--json"])
    #expect(try run.exit == 0 && run.json["clipboard"] as? String == program, "\(run.errors)")
    // xsel takes the selection over after it has gone to the background.
    try waitUntil("the secret is copied") { try paste() == "correct horse" }
    try endTime(tool)
    try waitUntil("the clipboard is cleared") { try paste() == "" }
    try expect(tool.run(copying("mail", for: "1d", tool)).exit, equals: 0)
    try waitUntil("the secret is copied again") { try paste() == "correct horse" }
    try expect(
      tool.run(["-c", "printf other | \(xclip) -selection clipboard -in >/dev/null"], program: "/bin/sh")
        .exit, equals: 0)
    try waitUntil("the other text is copied") { try paste() == "other" }
    try endTime(tool)
    try expect(paste(), equals: "other")
  }
}
