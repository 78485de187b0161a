import Foundation
import TestSupport
import Testing

/// Programs that use the terminal while a prompt is open, or should be.
@Suite("A prompt beside other programs on its terminal", .bounded, .requirement("Q1"), .serialized)
struct PromptRivalTests {
  private static let passcode = PromptTurnTests.passcode

  /// Verified to fail when a terminal without ICANON counts as free.
  @Test("beside the line editor of an interactive bash, which would show the passcode, nobody is asked")
  func lineEditor() throws {
    let shell = try Shell.need("bash")
    let tool = try PromptTurnTests.newTool()
    let screen = try PseudoTerminal()
    let running = try tool.start(shell: shell, ["--norc", "--noprofile", "-i"], on: screen)
    screen.type("echo here=$((1+1))\n")
    try screen.wait(for: "here=2")
    // In the shell's own process group, which is the foreground as soon as the shell reads its next line.
    screen.type(
      "exec 3< <(until stty -a | grep -q -e -icanon; do :; done; \"$T\" item get a; echo end=$?. >&2)\n")
    try screen.wait(for: "end=6.")
    #expect(screen.transcript.contains("another program reads from this terminal"))
    #expect(!screen.transcript.contains("vault passcode: "))
    screen.type("\nexit\n")
    _ = try running.wait()
  }

  /// Verified to fail when the mode is not looked at while a prompt is open.
  @Test("a mode that another program sets while a prompt is open: the question is shown again, without echo")
  func changedMode() throws {
    let tool = try PromptTurnTests.newTool()
    let screen = try PseudoTerminal()
    let running = try tool.start(["get", "a"], on: screen)
    try screen.wait(for: "vault passcode: ", times: 1)
    try change(screen) { $0.c_lflag |= tcflag_t(ECHO) }
    try screen.wait(for: "vault passcode: ", times: 2)
    #expect(!screen.echoes)
    screen.type(Self.passcode + "\n")
    try expect(running.wait(), equals: 0)
    #expect(screen.echoes && !screen.drain().contains("horse"))
  }

  /// Verified to fail when the whole changed mode counts as the mode outside the prompt.
  @Test("a change that leaves echo off is kept, and echo is back after the prompt")
  func keptChange() throws {
    let tool = try PromptTurnTests.newTool()
    let screen = try PseudoTerminal()
    let running = try tool.start(["get", "a"], on: screen)
    try screen.wait(for: "vault passcode: ", times: 1)
    try change(screen) { $0.c_iflag ^= tcflag_t(IXON) }
    try screen.wait(for: "vault passcode: ", times: 2)
    screen.type(Self.passcode + "\n")
    try expect(running.wait(), equals: 0)
    #expect(screen.echoes)
  }

  private func change(_ screen: PseudoTerminal, _ body: (inout termios) -> Void) throws {
    let terminal = unsafe open(screen.path, O_RDWR | O_NOCTTY)
    defer { close(terminal) }
    var mode = termios()
    try #require(unsafe tcgetattr(terminal, &mode) == 0)
    body(&mode)
    try #require(unsafe tcsetattr(terminal, TCSANOW, &mode) == 0)
  }

  /// Verified to fail with SIGSTOP instead of SIGTSTP.
  @Test("Ctrl-Z where no shell could continue the process: the question is shown again")
  func orphaned() throws {
    let tool = try PromptTurnTests.newTool()
    let screen = try PseudoTerminal()
    // Leads its session, as a command of `ssh -t` or of a new window does.
    let running = try tool.start(["get", "a"], on: screen)
    try screen.wait(for: "vault passcode: ", times: 1)
    screen.type("\u{1A}")
    try screen.wait(for: "vault passcode: ", times: 2)
    screen.type(Self.passcode + "\n")
    try expect(running.wait(), equals: 0)
    #expect(screen.echoes)
  }

  /// A pinentry that sets the mode of the terminal itself, also when it goes on after `go`.
  private static func settingItsMode(_ go: NamedPipe) -> String {
    """
    #!/bin/sh
    echo OK
    while read -r line; do
      case "$line" in
      *ttyname=*) tty=${line#*ttyname=}; echo OK;;
      GETPIN) stty -F "$tty" -icanon -echo; echo 'asking.' > "$tty"
        : < '\(go.path)'
        stty -F "$tty" -icanon -echo; head -c 1 < "$tty" > /dev/null; echo 'read.' > "$tty"; stty -F "$tty" icanon echo
        echo 'D \(passcode)'; echo OK;;
      BYE) exit;; *) echo OK;; esac
    done
    """
  }

  /// Verified to fail when the mode that the pinentry sets when it is continued counts as the mode outside the prompt.
  @Test("Ctrl-Z and fg at a pinentry that sets the mode itself: it goes on, and echo is back afterwards")
  func stoppedPinentry() throws {
    let shell = try Shell.need("bash")
    let tool = try PromptTurnTests.newTool()
    let go = try NamedPipe(tool.home.path + "/go")
    tool.environment["VAULTCTL_PINENTRY"] = try tool.program("pinentry", Self.settingItsMode(go))
    let screen = try PseudoTerminal()
    let running = try tool.start(shell: shell, ["--norc", "--noprofile", "-i"], on: screen)
    screen.type("echo here=$((1+1))\n")
    try screen.wait(for: "here=2")
    screen.type("\"$T\" item get a --prompt pinentry; echo ended=$?.\n")
    try screen.wait(for: "asking.")
    screen.type("\u{1A}")
    try screen.wait(for: "Stopped")
    // The prompt goes on after the pinentry: it waits for the lock.
    let held = try #require(PromptTurnTests.lock(tool, screen).hold())
    go.open()
    screen.type("fg; stty -a | sed -n 's/.* \\(-*echo\\) .*/mode=\\1./p'; echo end=$((1+1)).\n")
    try screen.wait(for: "Another prompt is open")
    try waitUntil("the pinentry has set its mode again") { !screen.echoes }
    close(held)
    // The prompt that goes on may discard what was typed before it had the terminal again: a person types another key.
    try waitUntil("the pinentry reads a key") {
      screen.type("x")
      return screen.shows("read.")
    }
    try screen.wait(for: "secret-a")
    try screen.wait(for: "end=2.")
    #expect(screen.transcript.contains("mode=echo."), "\(screen.transcript)")
    // Ctrl-U drops the keys that the pinentry has not read.
    screen.type("\u{15}exit\n")
    _ = try running.wait()
  }

  /// Verified to fail when it is not bound to its parent, and when what it leaves counts as another program's.
  @Test(
    "a pinentry ends with a process that is killed, and the next prompt sets the terminal right",
    arguments: ["terminal", "pinentry"])
  func leftPinentry(prompt: String) throws {
    let tool = try PromptTurnTests.newTool()
    let script = """
      #!/bin/sh
      echo OK
      while read -r line; do
        case "$line" in
        *ttyname=*) tty=${line#*ttyname=}; echo OK;;
        GETPIN) if [ -e '\(tool.home.path)/pid' ]; then echo 'D \(Self.passcode)'; echo OK; else
          echo $$ > '\(tool.home.path)/pid'; stty -F "$tty" raw -echo; exec sleep infinity; fi;;
        BYE) exit;; *) echo OK;; esac
      done
      """
    tool.environment["VAULTCTL_PINENTRY"] = try tool.program("pinentry", script)
    let screen = try PseudoTerminal()
    let lock = PromptTurnTests.lock(tool, screen)
    let line =
      "\"$T\" item get a --prompt pinentry & echo pid=$!.; wait; read line; \"$T\" item get b --prompt \(prompt); echo end=$?."
    let running = try tool.start(shell: "/bin/sh", ["-c", line], on: screen)
    try screen.wait(for: /pid=(\d+)\./)
    let number = try #require(screen.transcript.firstMatch(of: /pid=(\d+)\./)?.1)
    // The record says when the program has set its mode: the modes before and during the prompt are its two last parts.
    try waitUntil("the pinentry has set its mode") {
      let modes = lock.record.dropFirst(28)
      return modes.prefix(modes.count / 2) != modes.suffix(modes.count / 2)
    }
    let pinentry = try #require(
      pid_t(try String(contentsOfFile: tool.home.path + "/pid", encoding: .utf8).split(separator: "\n")[0]))
    kill(try #require(pid_t(number)), SIGKILL)
    try waitUntil("the pinentry ends") { hasEnded(pinentry) }
    screen.type("\r\n")
    if prompt == "terminal" {
      try screen.wait(for: "vault passcode: ")
      screen.type(Self.passcode + "\n")
    }
    try screen.wait(for: "end=0.")
    try expect(running.wait(), equals: 0)
    #expect(screen.echoes)
  }
}
