import Foundation
import TestSupport
import Testing

/// Prompts and job control: interactive shells on a pseudo-terminal.
@Suite("Prompts ask in the foreground only", .bounded, .requirement("Q5"), .serialized)
struct PromptForegroundTests {
  private func start(_ name: String, _ tool: Tool, _ screen: PseudoTerminal) throws -> Child.Running {
    let words = ["bash": ["--norc", "--noprofile", "-i"], "zsh": ["-f", "-i"], "dash": ["-i"]][name] ?? []
    let running = try tool.start(shell: Shell.need(name), words, on: screen)
    // The shell has set up its job control when it answers.
    screen.type("echo here=$((1+1))\n")
    try screen.wait(for: "here=2")
    return running
  }

  private func end(_ running: Child.Running, _ screen: PseudoTerminal) throws {
    screen.type("exit\n")
    _ = try running.wait()
    #expect(screen.echoes)
    #expect(!screen.transcript.contains("horse"))
  }

  /// Verified to fail when `JobControl.isInForeground` is always true.
  @Test("both sides of diff <(…) <(…) at an interactive shell end with 6", arguments: ["bash", "zsh"])
  func substitutions(name: String) throws {
    let tool = try PromptTurnTests.newTool()
    let screen = try PseudoTerminal()
    let running = try start(name, tool, screen)
    screen.type("diff <(\"$T\" item get a; echo first=$?) <(\"$T\" item get b; echo second=$?)\n")
    try screen.wait(for: "first=6", times: 1)
    try screen.wait(for: "second=6", times: 1)
    #expect(screen.transcript.contains("in the background of its terminal"))
    #expect(screen.transcript.contains("--passcode-fd N or --passcode-file PATH"))
    try end(running, screen)
  }

  /// Verified to fail when `JobControl.isInForeground` is always true.
  @Test("a job in the background ends with 6 and is not stopped", arguments: ["bash", "zsh", "dash"])
  func job(name: String) throws {
    let tool = try PromptTurnTests.newTool()
    let screen = try PseudoTerminal()
    let running = try start(name, tool, screen)
    screen.type("stty tostop; \"$T\" item get a 2>/dev/null & wait $!; echo code=$?; stty -tostop\n")
    try screen.wait(for: "code=6", times: 1)
    screen.type(
      "(trap '' TTIN TTOU; exec \"$T\" item get a) & wait $!; echo second=$?\n")
    try screen.wait(for: "second=6", times: 1)
    #expect(!screen.transcript.contains("passcode: "))
    try end(running, screen)
  }

  @Test("a job in the background asks through a pinentry that has a display, and gives it no terminal")
  func pinentry() throws {
    let tool = try PromptTurnTests.newTool()
    let script = """
      #!/bin/sh
      echo OK
      while read -r line; do
        echo "$line" >> '\(tool.home.path)/heard'
        case "$line" in GETPIN) echo 'D \(PromptTurnTests.passcode)'; echo OK;; BYE) exit;; *) echo OK;; esac
      done
      """
    tool.environment["VAULTCTL_PINENTRY"] = try tool.program("pinentry", script)
    tool.environment["DISPLAY"] = ":0"
    let screen = try PseudoTerminal()
    let running = try start("bash", tool, screen)
    screen.type("\"$T\" item get a > ~/out & wait $!; echo code=$?; cat ~/out\n")
    try screen.wait(for: "code=0", times: 1)
    try screen.wait(for: "secret-a", times: 1)
    try end(running, screen)
    #expect(!(try String(contentsOfFile: tool.home.path + "/heard", encoding: .utf8)).contains("ttyname"))
  }

  /// Verified to fail when the lock is kept while stopped, and when the mode is not set again.
  @Test(
    "Ctrl-Z restores echo and releases the lock; fg takes both again; bg ends it with 6",
    arguments: [("bash", "Stopped"), ("zsh", "suspended"), ("dash", "Stopped")])
  func stops(name: String, stopped: String) throws {
    let tool = try PromptTurnTests.newTool()
    let screen = try PseudoTerminal()
    let lock = PromptTurnTests.lock(tool, screen)
    let running = try start(name, tool, screen)
    screen.type("\"$T\" item get a\n")
    try screen.wait(for: "passcode: ", times: 1)
    #expect(lock.isHeld && !lock.record.isEmpty)
    screen.type("half\u{1A}")
    try screen.wait(for: stopped, times: 1)
    #expect(!lock.isHeld && lock.record.isEmpty)
    screen.type("echo off=`stty -a | grep -c -e '-echo '`; \"$T\" item get b\n")
    try screen.wait(for: "off=0", times: 1)
    try screen.wait(for: "passcode: ", times: 2)
    screen.type(PromptTurnTests.passcode + "\n")
    try screen.wait(for: "secret-b", times: 1)
    screen.type("fg\n")
    try screen.wait(for: "passcode: ", times: 3)
    #expect(!screen.echoes && lock.isHeld)
    screen.type(PromptTurnTests.passcode + "\n")
    try screen.wait(for: "secret-a", times: 1)
    screen.type("\"$T\" item get a\n")
    try screen.wait(for: "passcode: ", times: 4)
    screen.type("\u{1A}")
    try screen.wait(for: stopped, times: 2)
    screen.type("bg; wait %1; echo ended=$?.\n")
    try screen.wait(for: "ended=6.")
    try end(running, screen)
  }

  /// Two things do this, SIGCONT and the look at the mode: either of them is enough.
  @Test("a prompt that SIGSTOP stopped hides what is typed when it goes on")
  func stoppedFromOutside() throws {
    let tool = try PromptTurnTests.newTool()
    let screen = try PseudoTerminal()
    let running = try start("bash", tool, screen)
    screen.type("(echo pid=$BASHPID.; exec \"$T\" item get a)\n")
    try screen.wait(for: "passcode: ", times: 1)
    let number = try #require(screen.transcript.firstMatch(of: /pid=(\d+)\./)?.1)
    kill(try #require(pid_t(number)), SIGSTOP)
    try screen.wait(for: "Stopped", times: 1)
    screen.type("stty echo; fg\n")
    try screen.wait(for: "passcode: ", times: 2)
    #expect(!screen.echoes)
    screen.type(PromptTurnTests.passcode + "\n")
    try screen.wait(for: "secret-a", times: 1)
    try end(running, screen)
  }

  /// Verified to fail when the two signals are neither caught nor held back.
  @Test(
    "SIGTTIN and SIGTTOU neither stop nor end a prompt in the foreground of a shell with job control",
    arguments: [SIGTTIN, SIGTTOU])
  func signals(signal: Int32) throws {
    let tool = try PromptTurnTests.newTool()
    let screen = try PseudoTerminal()
    let running = try start("bash", tool, screen)
    screen.type("(echo pid=$BASHPID.; exec \"$T\" item get a); echo code=$?.\n")
    try screen.wait(for: "passcode: ", times: 1)
    let number = try #require(screen.transcript.firstMatch(of: /pid=(\d+)\./)?.1)
    kill(try #require(pid_t(number)), signal)
    #expect(!screen.echoes)
    screen.type(PromptTurnTests.passcode + "\n")
    // The shell says 148 to 150 for a job that was stopped.
    try screen.wait(for: /code=\d+\./)
    #expect(screen.transcript.contains("code=0."))
    try end(running, screen)
  }
}
