import Foundation
import TestSupport
import Testing

/// Verified to fail when a secret that comes in two reads is shown, when standard error is not masked, when signals are not sent on, when
/// vaultctl keeps descriptors of the program open, and when it does not close an output that nothing reads any more.
@Suite("vaultctl run with secrets in the output", .bounded)
struct ExecMaskingTests {
  private static let mark = "<concealed by vaultctl>"

  private func newTool() throws -> Tool {
    let tool = try Tool()
    expect(0, try tool("init", "--no-passcode"))
    expect(
      0, try tool.run(["add", "mail", "--account", "anna.b"], input: Array("correct-horse".utf8)))
    expect(0, try tool("add", "tiny", input: Array("12345".utf8)))
    return tool
  }

  private func start(_ tool: Tool, _ words: [String], _ configure: (inout Child) -> Void) throws
    -> Child.Running
  {
    var child = Child(Tool.path, ["run", "--env", "A=mail"] + words, tool.environment)
    configure(&child)
    return try child.start()
  }

  @Test(
    "a secret of six bytes and more is concealed in both outputs, however it was handed over",
    arguments: [false, true])
  func concealed(inAgent: Bool) throws {
    try Tool.$usesAgent.withValue(inAgent) {
      let tool = try newTool()
      for words in [["--env", "A=mail"], ["--env", "A=vaultctl://mail"]] {
        let run = try tool.run(["run"] + words + ["--", "sh", "-c", "echo \"a=$A\"; echo \"b=$A.\" >&2"])
        expect(0, run)
        expect(run.text, equals: "a=\(Self.mark)\n")
        expect(run.errors.hasSuffix("b=\(Self.mark).\n"), equals: true, "\(run.errors)")
      }
      for words in [
        ["--fd", "9=mail", "--", "cat", "/proc/self/fd/9"],
        ["--file", "F=vaultctl://mail/password", "--", "sh", "-c", "cat $F $F"],
      ] {
        let run = try tool.run(["run"] + words)
        expect(run.text, equals: Self.mark, "\(run.errors)")
      }
    }
  }

  @Test("what is short or public is shown, and with --no-masking everything", arguments: [false, true])
  func shown(inAgent: Bool) throws {
    try Tool.$usesAgent.withValue(inAgent) {
      let tool = try newTool()
      let words = ["run", "--env", "A=mail", "--env", "B=tiny", "--env", "C=vaultctl://mail/account"]
      let program = ["--", "sh", "-c", "echo $A $B $C"]
      try expect(tool.run(words + program).text, equals: "\(Self.mark) 12345 anna.b\n")
      try expect(tool.run(words + ["--no-masking"] + program).text, equals: "correct-horse 12345 anna.b\n")
    }
  }

  @Test("a secret that comes in two writes is concealed, and what is before it is not held back")
  func split() throws {
    let tool = try newTool()
    let (output, input) = (try PipeEnds(), try PipeEnds())
    let script = "printf 'login: corr'; read line; printf 'ect-horse\\nco'; read line; printf 'py'"
    let running = try start(tool, ["--", "sh", "-c", script]) { child in
      child.copy(input.reader, to: 0)
      child.copy(output.writer, to: 1)
    }
    output.closeWriting()
    input.closeReading()
    try expect(output.read(7), equals: "login: ")
    input.write("\n")
    try expect(output.readLine(), equals: Self.mark + "\n")
    input.write("\n")
    try expect(output.read(4), equals: "copy")
    try expect(running.wait(), equals: 0)
  }

  @Test("a memory file has the path of the program's process, which stays one of its own")
  func path() throws {
    let tool = try newTool()
    let script = """
      import os
      path = os.environ["F"]
      assert path.startswith("/proc/%d/fd/" % os.getpid()), path
      assert open(path).read() == "correct-horse" and os.read(7, 99) == b"correct-horse"
      assert os.getpgid(0) == os.getpgid(os.getppid()), "a group of its own"
      print(oct(os.fstat(7).st_mode & 0o777), open("/proc/%d/comm" % os.getppid()).read().strip())
      """
    let run = try tool(
      "run", "--file", "F=mail", "--fd", "7=mail", "--", Shell.need("python3"), "-c", script)
    expect(run.text, equals: "0o400 vaultctl-testin\n", "\(run.errors)")
    let other = try tool(
      "run", "--file", "F=mail", "--no-masking", "--", "sh", "-c",
      "[ \"${F#/proc/$$/}\" != \"$F\" ] && cat /proc/$$/comm")
    expect(other.text, equals: "sh\n", "\(other.errors)")
  }

  @Test("on a terminal nothing is concealed, and vaultctl becomes the program")
  func terminal() throws {
    let tool = try newTool()
    let screen = try PseudoTerminal()
    let words = ["-c", "\"$T\" exec --env A=mail -- sh -c 'cat /proc/$$/comm; echo \"$A\"'"]
    let running = try tool.start(shell: "/bin/sh", words, on: screen)
    try screen.wait(for: "sh")
    try screen.wait(for: "correct-horse")
    try expect(running.wait(), equals: 0)
    // Where only one of the outputs is a terminal, the other is masked.
    let half = ["-c", "\"$T\" exec --env A=mail -- sh -c 'echo \"$A\"; echo \"$A\" >&2' | cat"]
    let other = try tool.start(shell: "/bin/sh", half, on: screen)
    try screen.wait(for: "correct-horse")
    try screen.wait(for: Self.mark)
    try expect(other.wait(), equals: 0)
  }

  @Test("the exit code and the signal are the program's, and a program that does not start is 127 or 126")
  func ends() throws {
    let tool = try newTool()
    for code in [0, 1, 7, 255] {
      try expect(tool("run", "--env", "A=mail", "--", "sh", "-c", "exit \(code)").exit, equals: Int32(code))
    }
    let program = ["env", "--default-signal", "sh", "-c"]
    for signal in [SIGTERM, SIGINT, SIGPIPE, SIGQUIT, SIGKILL, SIGUSR1] {
      let words = ["run", "--env", "A=mail", "--"] + program + ["kill -\(signal) $$"]
      try expect(tool.run(words).exit, equals: -signal)
    }
    for (words, exit) in [
      (["--", "/nonexistent"], 127), (["--", "/dev/null"], 126),
      (["--fd", "99999999=mail", "--", "true"], 2),
    ] {
      let run = try tool.run(["run", "--env", "A=mail"] + words)
      #expect(run.exit == exit && run.output.isEmpty && !run.errors.isEmpty, "\(words): \(run.errors)")
    }
  }

  @Test("signals reach the program, and ignored ones stay ignored")
  func signals() throws {
    let tool = try newTool()
    let output = try PipeEnds()
    let script = """
      sleep infinity > /dev/null 2>&1 &
      trap 'echo int' INT; trap 'echo usr1' USR1; trap 'echo term; kill $!; exit 9' TERM
      echo ready; while :; do wait; done
      """
    let running = try start(tool, ["--", "sh", "-c", script]) { $0.copy(output.writer, to: 1) }
    output.closeWriting()
    try expect(output.read(6), equals: "ready\n")
    for (signal, word) in [(SIGINT, "int\n"), (SIGUSR1, "usr1\n"), (SIGTERM, "term\n")] {
      running.kill(signal)
      try expect(output.read(word.utf8.count), equals: word)
    }
    try expect(running.wait(), equals: 9)
    let ignoring = "trap '' HUP; exec \"$0\" exec --env A=mail -- sh -c 'kill -HUP $PPID $$; echo alive'"
    let run = try tool.run(["-c", ignoring, Tool.path], program: "/bin/sh")
    #expect(run.exit == 0 && run.text == "alive\n", "\(run.errors)")
  }

  @Test("when vaultctl is killed, the program is killed too")
  func killed() throws {
    let tool = try newTool()
    let (output, alive) = (try PipeEnds(), try PipeEnds())
    let running = try start(tool, ["--", "sh", "-c", "echo ready; exec sleep infinity"]) { child in
      child.copy(output.writer, to: 1)
      child.copy(alive.writer, to: 5)
    }
    output.closeWriting()
    alive.closeWriting()
    try expect(output.read(6), equals: "ready\n")
    running.kill(SIGKILL)
    // The program alone has it open.
    try expect(alive.readToEnd(), equals: Data())
  }

  @Test("what the program closes has ended for others, and what nothing reads has ended for the program")
  func closed() throws {
    let tool = try newTool()
    let (output, other, input) = (try PipeEnds(), try PipeEnds(), try PipeEnds())
    let script = "echo first; exec >&- 5>&-; read line; echo last >&2; exit 4"
    let running = try start(tool, ["--", "sh", "-c", script]) { child in
      child.copy(input.reader, to: 0)
      child.copy(output.writer, to: 1)
      child.copy(other.writer, to: 5)
      child.create(2, tool.home.path + "/errors")
    }
    for end in [output, other] { end.closeWriting() }
    input.closeReading()
    try expect(output.readToEnd(), equals: Data("first\n".utf8))
    try expect(other.readToEnd(), equals: Data())
    input.write("\n")
    try expect(running.wait(), equals: 4)
    let (lost, begin) = (try PipeEnds(), try PipeEnds())
    let endless = ["--", "env", "--default-signal", "sh", "-c", "read line; while echo x; do :; done"]
    let waiting = try start(tool, endless) { child in
      child.copy(begin.reader, to: 0)
      child.copy(lost.writer, to: 1)
    }
    lost.closeReading()
    lost.closeWriting()
    begin.write("\n")
    try waitUntil("the program whose output nothing reads ends") { !waiting.isRunning }
    try expect(waiting.wait(), equals: -SIGPIPE)
    // yes ends by SIGPIPE as it does without vaultctl.
    let yes = "\"$0\" exec --env A=mail -- env --default-signal yes | head -n 1; "
    let run = try tool.run(["-c", yes + "exit ${PIPESTATUS[0]}", Tool.path], program: Shell.need("bash"))
    #expect(run.exit == 128 + SIGPIPE && run.text == "y\n", "\(run.exit) \(run.errors)")
  }

  @Test("two outputs that lead to one place keep their order, and much output comes through whole")
  func order() throws {
    let tool = try newTool()
    let script = "for n in 1 2 3 4 5 6 7 8 9; do echo o$n; echo e$n >&2; done; echo correct-; echo horse >&2"
    let both = "\"$0\" exec --env A=mail -- sh -c \"$1\" 2>&1"
    let run = try tool.run(["-c", both, Tool.path, script], program: "/bin/sh")
    expect(run.text, equals: (1...9).map { "o\($0)\ne\($0)\n" }.joined() + "correct-\nhorse\n")
    let much =
      "\"$0\" exec --env A=mail -- head -c 50000000 /dev/zero | cksum; head -c 50000000 /dev/zero | cksum"
    let sums = try tool.run(["-c", much, Tool.path], program: "/bin/sh").text.split(separator: "\n")
    #expect(sums.count == 2 && sums[0] == sums[1])
  }

  @Test("output that cannot be written is a failure of a program that ended with 0")
  func full() throws {
    let tool = try newTool()
    for (code, exit) in [(0, 13), (3, 3)] {
      let script = "\"$0\" exec --env A=mail -- sh -c 'echo x; exit \(code)' > /dev/full"
      try expect(tool.run(["-c", script, Tool.path], program: "/bin/sh").exit, equals: Int32(exit))
    }
    // Nothing is concealed there, so vaultctl becomes the program.
    let null = "\"$0\" exec --env A=mail -- sh -c 'cat /proc/$$/comm >&7' 7>&1 > /dev/null 2> /dev/null"
    try expect(tool.run(["-c", null, Tool.path], program: "/bin/sh").text, equals: "sh\n")
  }

  @Test("a job in a pipeline is stopped and goes on")
  func jobs() throws {
    let tool = try newTool()
    let screen = try PseudoTerminal()
    let bash = try Shell.need("bash")
    let running = try tool.start(shell: bash, ["--norc", "--noprofile", "-i"], on: screen)
    screen.type(
      "\"$T\" exec --env A=mail -- sh -c 'echo st\"\"arted; read x < /dev/tty; echo \"$A\" $x' | cat\n")
    try screen.wait(for: "started")
    screen.type("\u{1A}")
    try screen.wait(for: "Stopped")
    screen.type("fg\n")
    try screen.wait(for: "exec --env")
    screen.type("typed\n")
    try screen.wait(for: "\(Self.mark) typed")
    screen.type("exit\n")
    try running.wait()
  }
}

/// What does not come is an error, so that a test fails in place of waiting.
extension PipeEnds {
  private func readSome() throws -> Data {
    try waitUntil("something can be read, or has ended") {
      var wait = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
      return unsafe poll(&wait, 1, 0) > 0
    }
    return read()
  }

  /// So many bytes, or fewer at the end.
  fileprivate func read(_ count: Int) throws -> String {
    var all = Data()
    while all.count < count, case let part = try readSome(), !part.isEmpty { all += part }
    return String(decoding: all, as: UTF8.self)
  }

  /// What comes until a line ends in it, whatever it is.
  fileprivate func readLine() throws -> String {
    var all = Data()
    while !all.contains(UInt8(ascii: "\n")), case let part = try readSome(), !part.isEmpty { all += part }
    return String(decoding: all, as: UTF8.self)
  }

  /// Everything until the end.
  fileprivate func readToEnd() throws -> Data {
    var all = Data()
    while case let part = try readSome(), !part.isEmpty { all += part }
    return all
  }
}
