import Foundation
import TestSupport
import Testing

/// What a prompt does when it loses the terminal, or cannot have it.
@Suite("A prompt without its terminal", .bounded, .serialized)
struct PromptLossTests {
  private static let passcode = PromptTurnTests.passcode

  /// Starts `get a`, gives the foreground to another process group when the latch `go` is released, and shows the line that is
  /// typed there.
  private static let leader = """
    import os, signal, sys
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    tool = os.fork()
    if tool == 0:
      # A group of its own, which this process could continue: in an orphaned one nothing is ever stopped.
      os.setpgid(0, 0)
      os.tcsetpgrp(0, os.getpgrp())
      signal.signal(signal.SIGTTOU, signal.SIG_DFL)
      os.execv(os.environ['T'], ['vaultctl', 'item', 'get', 'a'])
    open(os.environ['HOME'] + '/go').close()
    reader, writer = os.pipe()
    other = os.fork()
    if other == 0:
      os.setpgid(0, 0)
      os.read(reader, 1)
      print('got=' + sys.stdin.readline().strip() + '.', flush=True)
      os._exit(0)
    try: os.setpgid(other, other)
    except OSError: pass
    os.tcsetpgrp(0, other)
    os.write(writer, b'x')
    status = os.waitpid(tool, os.WUNTRACED)[1]
    stopped = os.WIFSTOPPED(status)
    print('stopped.' if stopped else 'code=%d.' % os.waitstatus_to_exitcode(status), flush=True)
    if stopped: os.kill(tool, signal.SIGKILL)
    os.waitpid(other, 0)
    """

  /// Verified to fail when `JobControl.isInForeground` is always true, and when what was typed is not dropped.
  @Test(
    "a prompt that loses the foreground: what was typed at it is neither shown nor left to another program")
  func lost() throws {
    let tool = try PromptTurnTests.newTool()
    let screen = try PseudoTerminal()
    let go = try NamedPipe(tool.home.path + "/go")
    let running = try tool.start(shell: "/usr/bin/python3", ["-c", Self.leader], on: screen)
    try screen.wait(for: "vault passcode: ")
    #expect(!screen.echoes)
    screen.type("half")
    go.open()
    try screen.wait(for: /(code=\d+|stopped)\./)
    #expect(screen.transcript.contains("code=6."))
    #expect(screen.echoes)
    screen.type("later\n")
    try screen.wait(for: "got=later.")
    try expect(running.wait(), equals: 0)
    #expect(!screen.transcript.contains("half"))
    #expect(PromptTurnTests.lock(tool, screen).record.isEmpty)
  }

  /// Would fail when a record that cannot be written ends the prompt, as it did before a full disk was read.
  @Test("a full disk: a prompt asks, without the record of the mode", arguments: ["terminal", "pinentry"])
  func fullDisk(prompt: String) throws {
    let tool = try PromptTurnTests.newTool()
    tool.environment["VAULTCTL_PINENTRY"] = try tool.program(
      "pinentry", "#!/bin/sh\n: > '\(tool.home.path)/asked'\n")
    let screen = try PseudoTerminal()
    // A limit on the size of files stands for the disk.
    let line = "ulimit -f 0; \"$T\" init --prompt \(prompt) --vault \"$HOME/new/v\"; echo end=$?."
    let running = try tool.start(shell: "/bin/sh", ["-c", line], on: screen)
    for question in prompt == "terminal" ? ["new vault passcode: ", "new vault passcode again: "] : [] {
      try screen.wait(for: question)
      #expect(!screen.echoes)
      screen.type("six random words of a list\n")
    }
    try screen.wait(for: /end=\d+\./)
    try expect(running.wait(), equals: 0)
    #expect(screen.echoes)
    expect(FileManager.default.fileExists(atPath: tool.home.path + "/asked"), equals: prompt == "pinentry")
    #expect(!FileManager.default.fileExists(atPath: tool.home.path + "/new/v"))
    #expect(PromptTurnTests.lock(tool, screen).record.isEmpty)
  }

  /// Verified to fail when the code is shown before the lock is taken.
  @Test("a new recovery code is shown when no other prompt is open on the terminal, not before")
  func recoveryCode() throws {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    let screen = try PseudoTerminal()
    let lock = PromptTurnTests.lock(tool, screen)
    try FileManager.default.createDirectory(
      atPath: (lock.path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    let held = try #require(lock.hold())
    let running = try tool.start(["recovery-code", "new"], on: screen)
    try screen.wait(for: "Another prompt is open")
    #expect(!screen.transcript.contains("the new recovery code"))
    close(held)
    try screen.wait(for: "the new recovery code, which is not shown again:")
    try screen.wait(for: "the last two groups: ")
    screen.type("\u{3}")
    try expect(running.wait(), equals: 5)
  }
}
