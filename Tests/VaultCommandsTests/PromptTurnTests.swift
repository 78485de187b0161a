import Foundation
import TestSupport
import Testing

/// Two prompts on one terminal, in the shells that people use.
@Suite("One prompt at a time on a terminal", .bounded, .requirement("Q1"), .serialized)
struct PromptTurnTests {
  static let passcode = "correct horse"

  /// A vault with two items, which hold "secret-a" and "secret-b".
  static func newTool() throws -> Tool {
    let tool = try Tool()
    try expect(tool.run(["init", "--passcode-fd", "3"], secrets: [3: passcode]).exit, equals: 0)
    for name in ["a", "b"] {
      let added = try tool(
        "add", name, "--passcode-fd", "3", input: Array("secret-\(name)".utf8), secrets: [3: passcode]
      )
      expect(added.exit, equals: 0)
    }
    return tool
  }

  static func lock(_ tool: Tool, _ screen: PseudoTerminal) -> PromptLock {
    PromptLock(of: screen, state: tool.home.path + "/.local/state")
  }

  /// Verified to fail when a lock that another process holds counts as taken.
  @Test(
    "in a script the second prompt says that it waits, and asks when the first has ended; no passcode is shown",
    arguments: [
      ("bash", "diff <(\"$T\" item get a) <(\"$T\" item get b); echo end=$?"),
      ("bash", "\"$T\" item get a >/dev/null & \"$T\" item get b >/dev/null; wait; echo end=1"),
      ("bash", "paste <(\"$T\" item get a) <(\"$T\" item get b); echo end=1"),
      ("zsh", "diff <(\"$T\" item get a) <(\"$T\" item get b); echo end=$?"),
      ("dash", "\"$T\" item get a >/dev/null & \"$T\" item get b >/dev/null; wait; echo end=1"),
      ("dash", "( \"$T\" item get a; : ) | ( \"$T\" item get b; : ); wait; echo end=1"),
    ])
  func script(name: String, line: String) throws {
    let shell = try Shell.need(name)
    let tool = try Self.newTool()
    let screen = try PseudoTerminal()
    let running = try tool.start(shell: shell, ["-c", line], on: screen)
    try screen.wait(for: "passcode: ", times: 1)
    try screen.wait(for: "Another prompt is open", times: 1)
    #expect(!screen.echoes)
    screen.type(Self.passcode + "\n")
    try screen.wait(for: "passcode: ", times: 2)
    #expect(!screen.echoes)
    screen.type(Self.passcode + "\n")
    try screen.wait(for: "end=1", times: 1)
    try expect(running.wait(), equals: 0)
    #expect(screen.echoes)
    #expect(!screen.transcript.contains("horse"))
    #expect(!Self.lock(tool, screen).isHeld && Self.lock(tool, screen).record.isEmpty)
  }

  /// Verified to fail when Ctrl-C ends only the prompt that is open.
  @Test("Ctrl-C ends the prompt that is open and the one that waits")
  func interrupt() throws {
    let tool = try Self.newTool()
    let screen = try PseudoTerminal()
    let line = "(\"$T\" item get a; echo first=$?) & \"$T\" item get b; echo second=$?; wait; echo end"
    let running = try tool.start(shell: "/bin/sh", ["-c", "trap : INT; " + line], on: screen)
    try screen.wait(for: "Another prompt is open", times: 1)
    try screen.wait(for: "passcode: ", times: 1)
    screen.type("\u{3}")
    try screen.wait(for: "first=5", times: 1)
    try screen.wait(for: "second=5", times: 1)
    _ = try running.wait()
    #expect(screen.echoes)
  }

  enum Change: CaseIterable { case nothing, boot, session, mode, cut }

  /// Verified to fail when the record is not looked at, and when it is believed whatever session, boot and mode it
  /// names.
  @Test(
    "after a prompt was killed the next one restores the mode, where nothing else can have set it",
    arguments: Change.allCases)
  func killed(change: Change) throws {
    let tool = try Self.newTool()
    let screen = try PseudoTerminal()
    let line = "\"$T\" item get a & echo pid=$!.; wait; read line; \"$T\" item get b; echo end=$?"
    let running = try tool.start(shell: "/bin/sh", ["-c", line], on: screen)
    try screen.wait(for: "passcode: ", times: 1)
    let number = try #require(screen.transcript.firstMatch(of: /pid=(\d+)\./)?.1)
    kill(try #require(pid_t(number)), SIGKILL)
    let lock = Self.lock(tool, screen)
    try waitUntil("the lock is free") { !lock.isHeld }
    #expect(!screen.echoes)
    try alter(change, lock, screen)
    screen.type("\n")
    try screen.wait(for: "passcode: ", times: 2)
    screen.type(Self.passcode + "\n")
    try screen.wait(for: "end=0", times: 1)
    try expect(running.wait(), equals: 0)
    #expect(screen.echoes == (change == .nothing))
    #expect(lock.record.isEmpty)
  }

  private func alter(_ change: Change, _ lock: PromptLock, _ screen: PseudoTerminal) throws {
    switch change {
    case .nothing: break
    case .boot: lock.record[8] ^= 1
    case .session: lock.record[24] ^= 1
    case .cut: lock.record.removeLast()
    case .mode:
      let terminal = unsafe open(screen.path, O_RDWR | O_NOCTTY)
      defer { close(terminal) }
      var mode = termios()
      unsafe tcgetattr(terminal, &mode)
      mode.c_iflag ^= tcflag_t(IXON)
      unsafe tcsetattr(terminal, TCSANOW, &mode)
    }
  }

  @Test("a lock that cannot be made: refused, with the option that would have helped")
  func noLock() throws {
    if FileManager.default.fileExists(atPath: "/run/user/\(geteuid())") {
      try skip(.userDirectory, "a state directory in which a prompt cannot make its lock")
    }
    let tool = try Self.newTool()
    let file = try tool.file("file", "")
    let open = tool.home.path + "/open/vaultctl"
    try FileManager.default.createDirectory(atPath: open, withIntermediateDirectories: true)
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: open)
    for state in [file, tool.home.path + "/open"] {
      let screen = try PseudoTerminal()
      tool.environment["XDG_STATE_HOME"] = state
      let running = try tool.start(["init", "--vault", tool.home.path + "/new/v"], on: screen)
      try screen.wait(for: "cannot be locked", times: 1)
      try expect(running.wait(), equals: 6)
      let text = screen.drain()
      #expect(text.contains("--passcode-file") && !text.contains("passcode: "))
    }
  }

  /// Verified to fail when the folder of another owner is used.
  @Test("a folder of another owner is not used, and /run/user/UID comes first whatever the environment says")
  func folders() throws {
    try needMounts("/run/user/UID of another owner")
    let tool = try Self.newTool()
    let script = """
      mount -t tmpfs none /run && mkdir -p /run/user && mkdir -m 700 /run/user/0 && [ "$1" = other ] && chown 1 /run/user/0
      export XDG_STATE_HOME=$HOME/.local/state XDG_RUNTIME_DIR=$HOME; "$T" item get a; ls /run/user/0 $XDG_STATE_HOME/vaultctl
      """
    for (owner, place) in [("own", "/run/user/0:\r\ntty-136-"), ("other", "/vaultctl:\r\n")] {
      let screen = try PseudoTerminal()
      let words = ["-m", "sh", "-c", script, "sh", owner]
      let running = try tool.start(shell: Shell.need("unshare"), words, on: screen)
      try screen.wait(for: "passcode: ")
      screen.type(Self.passcode + "\n")
      try expect(running.wait(), equals: 0)
      let text = screen.drain()
      #expect(text.contains(place), "\(text)")
      expect(text.components(separatedBy: "tty-136-").count, equals: 2, "\(text)")
      #expect(text.contains("/run/user/0:\r\ntty") == (owner == "own"), "\(text)")
    }
  }
}
