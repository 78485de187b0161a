import AgentMessages
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultCommands

/// The secrets come from the agent, and the process of the command becomes the program.
@Suite("vaultctl run through the agent", .bounded, .requirement("G16"))
struct AgentExecTests {
  /// An agent with an unlocked vault, in which are "mail" and "binary".
  private static func make() throws -> AgentHome {
    let home = try AgentHome()
    let words = ["add", "binary", "--passcode-file", home.passcode]
    expect(0, try home.tool.run(words, input: [0, 10, 255, 0, 13]))
    expect(0, try home.tool("agent", "start"))
    expect(0, try home.tool("unlock", "--passcode-file", home.passcode))
    home.tool.environment["VAULTCTL_AGENT"] = "required"
    return home
  }

  @Test(
    "the program finds each secret where it was asked for, without a prompt, and the vault stays unlocked")
  func handedOver() throws {
    let home = try Self.make()
    let derivations = try home.derivations()
    let several = try home.tool(
      "run", "--fd", "3=mail", "--fd", "4=binary", "--file", "F=binary", "--env", "V=mail", "--no-input",
      "--",
      "sh", "-c", "cmp \"$F\" /proc/self/fd/4 && cmp \"$F\" - <&4 && printf %s \"$V\" && cat <&3")
    expect(0, several)
    expect(several.text, equals: "tok-1tok-1")
    try expect(home.tool("run", "--fd", "0=mail", "--", "cat").text, equals: "tok-1")
    try expect(home.derivations(), equals: derivations)
    expect(0, try home.tool("get", "mail", "--no-input"))
  }

  @Test("the memory file is sealed, its mode is 0400, and it begins at its first byte")
  func sealed() throws {
    let home = try Self.make()
    let script = """
      import fcntl, os
      print(fcntl.fcntl(3, 1034) & 15, oct(os.fstat(3).st_mode & 0o777), os.read(3, 99).decode())
      """
    let python = try Shell.need("python3")
    let run = try home.tool("run", "--fd", "3=mail", "--", python, "-c", script)
    expect(run.text, equals: "15 0o400 tok-1\n", "\(run.errors)")
  }

  @Test("the program gets no descriptor of the agent's, nor the one that brought the passcode")
  func descriptors() throws {
    let home = try Self.make()
    let words = ["run", "--passcode-fd", "9", "--fd", "5=mail", "--", "ls", "-l", "/proc/self/fd"]
    let run = try home.tool.run(words, secrets: [9: "1234"])
    expect(0, run)
    let open = run.text.split(separator: "\n").compactMap { $0.components(separatedBy: " -> ").last }
    expect(open.filter { $0.hasPrefix("/memfd") }, equals: ["/memfd:vaultctl (deleted)"], "\(run.text)")
    #expect(!run.text.contains(" 9 -> ") && !run.text.contains("socket:") && !run.text.contains("pipe:"))
    let stdin = try home.tool.run(
      ["run", "--passcode-fd", "0", "--fd", "5=mail", "--", "sh", "-c", "wc -c; wc -c <&5"],
      input: Array("1234".utf8))
    expect(stdin.text.split(whereSeparator: \.isWhitespace), equals: ["0", "5"], "\(stdin.errors)")
  }

  @Test("a number that this process uses for the agent is free for the program")
  func takenNumbers() throws {
    let home = try Self.make()
    for number in 3...16 {
      let words = ["run", "--fd", "\(number)=mail", "--file", "F=mail", "--env", "V=mail", "--"]
      let run = try home.tool.run(
        words + ["sh", "-c", "cat \"$F\" /proc/self/fd/\(number); printf %s \"$V\""])
      expect(run.text, equals: "tok-1tok-1tok-1", "\(number): \(run.errors)")
    }
  }

  @Test("the exit code is the program's, and a signal ends the program")
  func ends() throws {
    let home = try Self.make()
    for code in [0, 7, 255] {
      try expect(
        home.tool("run", "--fd", "3=mail", "--", "sh", "-c", "exit \(code)").exit, equals: Int32(code))
    }
    let program = ["env", "--default-signal", "sh", "-c"]
    for signal in [SIGTERM, SIGINT, SIGPIPE, SIGQUIT] {
      let words = ["run", "--fd", "3=mail", "--"] + program + ["kill -\(signal) $$"]
      try expect(home.tool.run(words).exit, equals: -signal)
    }
    var child = Child(
      Tool.path, ["run", "--fd", "3=mail", "--", "sleep", "infinity"], home.tool.environment)
    child.create(2, home.tool.home.path + "/errors")
    let running = try child.start()
    try waitUntil("vaultctl becomes the program") {
      try String(contentsOfFile: "/proc/\(running.pid)/comm", encoding: .utf8) == "sleep\n"
    }
    running.kill(SIGTERM)
    try expect(running.wait(), equals: -SIGTERM)
    expect(0, try home.tool("agent", "status"))
  }

  @Test(
    "what fails says the same as without the agent, and runs nothing",
    arguments: [
      "-- true", "--fd 3=mail", "--fd 1=mail -- true", "--file A=mail --env A=mail -- true",
      "--fd 99999999=mail -- true", "--fd 3=nobody -- true", "--env A=binary -- true",
      "--fd 3=mail -- /nonexistent/program", "--fd 3=loud -- /nonexistent/program",
      "--json --fd 3=loud -- /nonexistent/program", "--json --env A=binary -- true",
    ])
  func refusals(line: String) throws {
    let home = try Self.make()
    let given = ["--passcode-file", home.passcode]
    expect(0, try home.tool.run(["add", "loud", "--audit", "all"] + given, input: [1]))
    let words = ["run"] + given + line.split(separator: " ").map(String.init)
    let through = try home.tool.run(words)
    home.tool.environment["VAULTCTL_AGENT"] = "never"
    let plain = try home.tool.run(words)
    #expect(plain.exit != 0 && !plain.errors.isEmpty, "\(line)")
    expect(through.exit, equals: plain.exit, "\(line): \(through.errors)")
    expect(through.errors, equals: plain.errors, "\(line)")
    #expect(through.output.isEmpty)
  }

  @Test("an agent that hands over nothing, or hands over to another command, starts no program")
  func wrongAgent() async throws {
    let tool = try Tool()
    expect(0, try tool("init", "--no-passcode"))
    expect(0, try tool("add", "mail", input: [1]))
    let agent = try ScriptedAgent(for: tool)
    let none = agent.serve { try $0.end(.exit(0)) }
    let ran = try tool("run", "--fd", "3=mail", "--", "sh", "-c", "echo ran")
    try await none.value
    expect(13, ran, "the agent sent what this version does not understand")
    expect(ran.text, equals: "")
    let other = agent.serve { request in
      let call = AgentCall(
        1, .handOver, AgentFields(), descriptors: AgentDescriptors(lending: [request.descriptors[0]]))
      try request.socket.send(call.packet)
      _ = try? request.socket.receive()
    }
    expect(13, try tool("ls"), "the agent sent what this version does not understand")
    try await other.value
  }

  @Test("a signal that comes when the agent has done its part ends the command, and no program runs")
  func lateSignal() async throws {
    let tool = try Tool()
    expect(0, try tool("init", "--no-passcode"))
    expect(0, try tool("add", "mail", input: [1]))
    let agent = try ScriptedAgent(for: tool)
    let (requests, request) = AsyncStream.makeStream(of: Void.self)
    let served = agent.serve { open in
      request.yield()
      let signal = try AgentSignal(#require(try open.socket.receive())).number
      try open.end(.exit(0))
      return signal
    }
    let words = ["run", "--fd", "3=mail", "--", "sh", "-c", "echo ran > \"$HOME/ran\""]
    let running = try Child(Tool.path, words, tool.environment).start()
    var iterator = requests.makeAsyncIterator()
    _ = await iterator.next()
    running.kill(SIGTERM)
    try await expect(served.value, equals: SIGTERM)
    try expect(running.wait(), equals: -SIGTERM)
    #expect(!FileManager.default.fileExists(atPath: tool.home.path + "/ran"))
  }
}
