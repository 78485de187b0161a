import Foundation
import TestSupport
import Testing

/// Commands whose descriptors or processes are not as they should be, by the built programs: they hold up no other command.
@Suite("The agent and bad input", .bounded, .requirement("G18"))
struct AgentInputTests {
  @Test(
    "a command whose output is not read holds up no commit and no lock",
    arguments: [["ls"], ["audit"]])
  func fullPipe(words: [String]) throws {
    let home = try AgentHome()
    try home.unlock()
    let lines = (0..<700).map { number in
      let name = "\(number)" + String(repeating: " long", count: 30)
      return "{\"args\":[\"add\",\"\(name)\"],\"stdin\":\"x\"}\n"
    }
    expect(0, try home.tool("vault", "batch", "--agent", "required", input: Array(lines.joined().utf8)))
    let pipe = try PipeEnds()
    var child = Child(Tool.path, words + ["--agent", "required"], home.tool.environment)
    child.copy(pipe.writer, to: 1)
    let command = try child.start()
    try waitUntil("a full pipe") {
      var end = pollfd(fd: pipe.writer, events: Int16(POLLOUT), revents: 0)
      return unsafe poll(&end, 1, 0) == 0
    }
    expect(0, try home.tool("add", "meanwhile", "--agent", "required", input: [1]))
    expect(0, try home.tool("lock"))
    expect(6, try home.tool("get", "mail", "--no-input", "--agent", "required"))
    #expect(command.isRunning)
    pipe.closeReading()
    try expect(command.wait(), equals: -SIGPIPE)
    expect(0, try home.tool("agent", "status"))
  }

  @Test("a command that is stopped at its prompt holds up no commit and no lock, and then goes on")
  func stopped() throws {
    let home = try AgentHome()
    try home.unlock()
    expect(
      0,
      try home.tool(
        "add", "asks", "--access", "passcode", "--passcode-file", home.passcode, input: [1]))
    let screen = try PseudoTerminal()
    let command = try home.tool.start(["get", "asks", "--agent", "required"], on: screen)
    try screen.wait(for: "vault passcode: ")
    command.kill(SIGSTOP)
    expect(0, try home.tool("add", "meanwhile", "--agent", "required", input: [1]))
    expect(0, try home.tool("lock"))
    command.kill(SIGCONT)
    screen.type("1234\n")
    try expect(command.wait(), equals: 5)
    // The lock ends the prompt, or the passcode comes first: then the vault was locked before it was judged.
    try screen.wait(for: /the program ended the prompt|the vault was locked meanwhile/)
    #expect(screen.echoes)
  }

  @Test(
    "descriptors that cannot be read or written say the same as without an agent",
    arguments: [
      ("add new", "< /"), ("add new", "<&-"), ("get mail", ">&-"),
      ("get mail", "> /dev/full"),
      ("get mail", "2>&-"), ("get absent", "2>&-"),
    ])
  func descriptors(words: String, redirection: String) throws {
    let home = try AgentHome()
    try home.unlock()
    func run(_ choice: String) throws -> Tool.Run {
      let script =
        "'\(Tool.path)' \(words) --passcode-file '\(home.passcode)' --agent \(choice) \(redirection)"
      return try home.tool.run(["-c", script], program: try Shell.need("bash"))
    }
    let (alone, served) = (try run("never"), try run("required"))
    expect(served.exit, equals: alone.exit)
    expect(served.errors, equals: alone.errors)
    expect(served.text, equals: alone.text)
    expect(0, try home.tool("agent", "status"))
  }

  @Test("the vault's own file as standard input takes no lock of the agent while another command commits")
  func ownFile() throws {
    let home = try AgentHome()
    try home.unlock()
    let lines = (0..<40).map { "{\"args\":[\"add\",\"n\($0)\"],\"stdin\":\"x\"}\n" }
    let input = try PipeEnds()
    var child = Child(Tool.path, ["vault", "batch", "--agent", "required"], home.tool.environment)
    child.copy(input.reader, to: 0)
    child.create(1, home.tool.home.path + "/answers")
    let batch = try child.start()
    input.closeReading()
    let script =
      "for f in '' -wal -shm; do '\(Tool.path)' item list --agent required < '\(home.vault)'$f; echo $?; done"
    for line in lines {
      input.write(line)
      let run = try home.tool.run(["-c", script], program: try Shell.need("bash"))
      expect(run.text, equals: "9\n9\n9\n")
      // A command beside the agent commits too.
      expect(0, try home.tool("ls", "--agent", "never"))
    }
    input.closeWriting()
    try expect(batch.wait(), equals: 0)
    let names = try home.tool("ls", "--format", "name", "--agent", "never").text
    expect(names.split(separator: "\n").count, equals: 41)
    expect(0, try home.tool("vault", "check", "--agent", "never", "--passcode-file", home.passcode))
  }

  @Test("a process of another user that reaches the socket gets no answer")
  func otherUser() throws {
    try needRoot("a process of another user")
    let home = try AgentHome()
    try home.unlock()
    unsafe chmod(home.runtime, 0o755)
    unsafe chmod(home.runtime + "/vaultctl", 0o755)
    unsafe chmod(home.runtime + "/vaultctl/agent", 0o666)
    let script = """
      import socket, sys
      s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
      s.connect(sys.argv[1])
      try:
          s.send(bytes([1, 3]))
          print(s.recv(65536))
      except OSError:
          print(b"")
      """
    let other = ["--reuid", "65534", "--regid", "65534", "--clear-groups", "/usr/bin/python3", "-c", script]
    let run = try home.tool.run(
      other + [home.runtime + "/vaultctl/agent"], program: try Shell.need("setpriv"))
    expect(0, run)
    expect(run.text, equals: "b''\n")
    // A command of ours no longer trusts the place either.
    expect(9, try home.tool("get", "mail", "--agent", "required"))
    unsafe chmod(home.runtime + "/vaultctl", 0o700)
    try expect(home.tool("get", "mail", "--no-input", "--agent", "required").text, equals: "tok-1")
  }

  @Test("a thousand connections that say nothing hold up no command")
  func silent() throws {
    let home = try AgentHome()
    try home.unlock()
    let script = """
      import socket, subprocess, sys
      held = []
      for _ in range(1000):
          s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
          s.connect(sys.argv[1])
          held.append(s)
      sys.exit(subprocess.run(sys.argv[2:]).returncode)
      """
    let words = [
      home.runtime + "/vaultctl/agent", Tool.path, "get", "mail", "--no-input", "--agent", "required",
    ]
    let run = try home.tool.run(["-c", script] + words, program: try Shell.need("python3"))
    expect(0, run)
    expect(run.text, equals: "tok-1")
  }

  @Test("on a full disk a command says so, a lock is not held up, and the agent goes on")
  func fullDisk() throws {
    try needMounts("a vault on a full file system")
    let home = try AgentHome()
    let script = """
      set -e
      mkdir "$HOME/full"; mount -t tmpfs -o size=1m,mode=700 none "$HOME/full"; export VAULTCTL_PATH="$HOME/full/v.vault"
      "$0" init --no-input --passcode-file "$1"
      for name in a b c; do head -c 4000 /dev/urandom | base64 -w 0 | "$0" item add $name --passcode-file "$1"; done
      "$0" agent start; "$0" unlock --passcode-file "$1"; export VAULTCTL_AGENT=required
      dd if=/dev/zero of="$HOME/full/filled" bs=1k || true
      "$0" item rm b && exit 90 || [ $? -eq 13 ]
      "$0" item get a --no-input
      "$0" lock
      "$0" item get a --no-input && exit 91 || [ $? -eq 6 ]
      rm "$HOME/full/filled"
      "$0" unlock --passcode-file "$1"; "$0" item rm b; "$0" vault check; "$0" agent stop
      """
    let words = ["--mount", "sh", "-c", script, Tool.path, home.passcode]
    let run = try home.tool.run(words, program: try Shell.need("unshare"))
    expect(0, run)
  }

  @Test("an agent that was killed leaves a socket that the next one replaces, and no vault that is unlocked")
  func killed() throws {
    let home = try AgentHome()
    try home.unlock()
    let process = try #require(try home.tool("agent", "status", "--json").json["pid"] as? Int)
    kill(pid_t(process), SIGKILL)
    try waitUntil("the end of the agent") { try home.tool("ls", "--agent", "required").exit == 13 }
    let alone = try home.tool("ls")
    expect(0, alone)
    #expect(alone.errors.contains("going on without an agent"), "\(alone.errors)")
    expect(0, try home.tool("agent", "start"))
    expect(6, try home.tool("get", "mail", "--no-input", "--agent", "required"))
  }
}
