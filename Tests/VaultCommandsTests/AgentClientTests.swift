import AgentMessages
import Foundation
import TestSupport
import Testing
import VaultKit

@Suite("A command whose verb runs in the agent", .bounded)
struct AgentClientTests {
  /// A tool with a vault of two items, and an agent.
  private static func make() throws -> (tool: Tool, agent: ScriptedAgent) {
    let tool = try Tool()
    expect(0, try tool("init", "--no-passcode"))
    expect(0, try tool("add", "mail", input: Array("secret".utf8)))
    return (tool, try ScriptedAgent(for: tool))
  }

  @Test(
    "sends its words, its vault and its descriptors, and ends with the exit code of the verb",
    .requirement("G1"))
  func request() async throws {
    let (tool, agent) = try Self.make()
    let served = agent.serve { request in
      request.write("from the agent\n")
      try request.end(.exit(7))
      return request.run
    }
    let ran = try tool("get", "mail", "--no-input")
    let run = try await served.value
    expect(7, ran)
    expect(ran.text, equals: "from the agent\n")
    expect(ran.errors, equals: "")
    expect(run.words, equals: ["get", "mail", "--no-input"])
    expect(run.variables["HOME"], equals: tool.home.path)
    let path = tool.home.path + "/.local/share/vaultctl/default.vault"
    expect(run.vault?.path, equals: path)
    let inode = try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? UInt64
    expect(run.vault?.identity?.inode, equals: inode)
    #expect(run.deviceKey == nil)
  }

  @Test("makes relative paths of vault and key absolute", .requirement("G1"))
  func relativePaths() async throws {
    let (tool, agent) = try Self.make()
    let vault = tool.home.path + "/.local/share/vaultctl/default.vault"
    let served = agent.serve { request in
      try request.end(.exit(0))
      return request.run
    }
    var child = Child(
      Tool.path, ["ls", "--vault", "default.vault", "--device-key", "../key"], tool.environment)
    child.directory = (vault as NSString).deletingLastPathComponent
    try expect(child.start().wait(), equals: 0)
    let run = try await served.value
    expect(run.vault?.path, equals: vault)
    let folder = (vault as NSString).deletingLastPathComponent
    expect(run.deviceKey, equals: folder + "/../key")
  }

  @Test(
    "goes on by itself where the agent does nothing, with no word about it", .requirement("G11"),
    arguments: [AgentRefusal.Reason.otherKey, .vaultChanged, .full, .ending, .verb])
  func refused(reason: AgentRefusal.Reason) async throws {
    let (tool, agent) = try Self.make()
    let served = agent.serveUntaken { try $0.socket.send(AgentRefusal(reason, "for a reason").packet) }
    let ran = try tool("get", "mail")
    try await served.value
    expect(0, ran)
    expect(ran.text, equals: "secret")
    expect(ran.errors, equals: "")
    let again = agent.serveUntaken { try $0.socket.send(AgentRefusal(reason, "for a reason").packet) }
    let required = try tool("get", "mail", "--agent", "required")
    try await again.value
    expect(13, required, "the agent did not run this: for a reason")
    expect(required.text, equals: "")
  }

  @Test("tells of an agent of another version in one line, and goes on by itself", .requirement("G11"))
  func otherVersion() async throws {
    let (tool, agent) = try Self.make()
    let served = agent.serveUntaken { try $0.socket.send(AgentRefusal(.version, "it is 0.0.9").packet) }
    let ran = try tool("get", "mail")
    try await served.value
    expect(0, ran, "it is 0.0.9; restart it: 'vaultctl agent stop'")
    expect(ran.text, equals: "secret")
    expect(ran.errors.split(separator: "\n").count, equals: 1)
  }

  @Test("without a socket does all by itself, unless an agent is required", .requirement("G11"))
  func absent() throws {
    let (tool, agent) = try Self.make()
    _ = unsafe unlink(agent.place.socket)
    let ran = try tool("get", "mail")
    expect(0, ran)
    expect(ran.errors, equals: "")
    let required = try tool("get", "mail", "--json", "--agent", "required")
    expect(13, required)
    try expect(required.error["code"] as? String, equals: "noAgent")
    tool.environment["VAULTCTL_AGENT"] = "required"
    expect(13, try tool("get", "mail"), "no agent is running")
    expect(0, try tool("get", "mail", "--agent", "auto"))
  }

  @Test("tells of a dead socket in one line, and goes on by itself", .requirement("G11"))
  func dead() throws {
    let (tool, _) = try Self.make()
    let agent = try ScriptedAgent.leaveDeadSocket(for: tool)
    let ran = try tool("get", "mail")
    expect(0, ran, "no agent listens at \(agent.place.socket); going on without an agent")
    expect(ran.errors.split(separator: "\n").count, equals: 1)
    expect(13, try tool("get", "mail", "--agent", "required"), "no agent listens")
  }

  @Test("does not use a socket in a directory that others can reach, or a link", .requirement("G7"))
  func planted() throws {
    let (tool, agent) = try Self.make()
    _ = unsafe chmod(agent.place.directory, 0o755)
    expect(0, try tool("get", "mail"), "other users can reach \(agent.place.directory)")
    expect(9, try tool("get", "mail", "--agent", "required"), "the agent's socket is not used")
    _ = unsafe chmod(agent.place.directory, 0o700)
    _ = unsafe rename(agent.place.socket, agent.runtime + "/moved")
    _ = unsafe symlink(agent.runtime + "/moved", agent.place.socket)
    expect(0, try tool("get", "mail"), "is a link")
    #expect(!agent.isAsked)
  }

  @Test("does not use a socket of another user", .requirement("G7"))
  func foreign() throws {
    try needRoot("the socket of another user")
    let (tool, agent) = try Self.make()
    _ = unsafe chown(agent.place.socket, 65_534, 65_534)
    expect(0, try tool("get", "mail"), "belongs to another user")
    expect(9, try tool("get", "mail", "--agent", "required"), "belongs to another user")
    #expect(!agent.isAsked)
  }

  @Test("ends with 13 where the agent ends before the verb", .requirement("G11"))
  func lost() async throws {
    let (tool, agent) = try Self.make()
    let served = agent.serve { request in
      request.write("a part")
    }
    let ran = try tool("get", "mail")
    try await served.value
    expect(13, ran, "the agent has ended")
    expect(ran.text, equals: "a part")
    #expect(ran.errors.contains("see 'vaultctl audit'"))
  }

  @Test(
    "goes on by itself, with one line, where the agent ends before it has taken the request",
    .requirement("G11"))
  func endedBefore() async throws {
    let (tool, agent) = try Self.make()
    let served = agent.serveUntaken { _ in }
    let ran = try tool("get", "mail")
    try await served.value
    expect(0, ran, "the agent has ended before it began; going on without an agent")
    expect(ran.text, equals: "secret")
    expect(ran.errors.split(separator: "\n").count, equals: 1)
    let again = agent.serveUntaken { _ in }
    expect(13, try tool("get", "mail", "--agent", "required"), "the agent has ended before it began")
    try await again.value
  }

  @Test(
    "goes on by itself, with one line, where the agent does not answer; a verb about the agent ends with 13",
    .requirement("G11"))
  func silent() throws {
    let (tool, agent) = try Self.make()
    tool.environment["VAULTCTL_TESTING_AGENT"] = "0"
    let ran = try tool("get", "mail")
    expect(0, ran, "the agent does not answer; going on without an agent")
    expect(ran.text, equals: "secret")
    expect(ran.errors.split(separator: "\n").count, equals: 1)
    expect(13, try tool("get", "mail", "--agent", "required"), "the agent does not answer")
    for words in [["lock"], ["unlock"], ["agent", "stop"], ["agent", "status"], ["agent", "grants"]] {
      expect(13, try tool.run(words), "the agent does not answer")
    }
    // What was taken back cannot be answered any more.
    let socket = try agent.accept()
    let packet = try #require(try socket.receive())
    expect(packet.kind, equals: .run)
    #expect(throws: AgentMessageError.gone) { try socket.send(AgentBegun.packet) }
    // Would fail at b471ba6f: it had the descriptors of the command.
    let descriptors = packet.descriptors.take()
    defer { for descriptor in descriptors { close(descriptor) } }
    let files = try descriptors.map {
      try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
    }
    expect(files, equals: ["/dev/null", "/dev/null", "/dev/null"])
  }

  /// Would fail at b471ba6f: the reader waited for as long as the agent was stopped.
  @Test(
    "the reader of its output sees the end with the command, whatever becomes of an agent that does not answer",
    .requirement("G11"))
  func outputEnds() throws {
    let (tool, agent) = try Self.make()
    tool.environment["VAULTCTL_TESTING_AGENT"] = "0"
    let output = try PipeEnds()
    let running = try Program(Tool.path, ["get", "mail"], environment: tool.environment)
      .start(output: .writing(output), errors: .inherited)
    expect(String(decoding: output.readAll(), as: UTF8.self), equals: "secret")
    try expect(running.wait(), equals: 0)
    #expect(agent.isAsked)
  }

  /// Would fail at b471ba6f where the connection ends before the command sends its request, which is most of the times.
  @Test(
    "a refusal is heard also where the agent ends the connection before the request is sent",
    .requirement("G11"))
  func refusedAtOnce() async throws {
    let (tool, agent) = try Self.make()
    for words in [["lock"], ["agent", "stop"], ["agent", "status"], ["unlock"], ["agent", "grants"]] {
      let served = onThread {
        let socket = try agent.accept()
        try socket.send(AgentRefusal(.full, "it has no room").packet)
        socket.end()
      }
      expect(13, try tool.run(words), "the agent did not run this: it has no room")
      try await served.value
    }
  }

  /// Would fail at b471ba6f, which said "no agent is running": `agent stop` with 0, `agent status` with 1.
  @Test(
    "a verb about the agent does not say that there is none where one ends the connection and still listens",
    .requirement("G11"), arguments: ["lock", "unlock", "agent stop", "agent status", "agent grants"])
  func dropped(line: String) async throws {
    let (tool, agent) = try Self.make()
    let served = agent.serveUntaken { _ in }
    let ran = try tool.run(line.split(separator: " ").map(String.init))
    try await served.value
    expect(13, ran, "the agent ended the connection before it began, and still listens")
  }

  @Test("a refusal that comes after the descriptors is one all the same", .requirement("G9"))
  func refusedLate() async throws {
    let (tool, agent) = try Self.make()
    let served = agent.serve { try $0.socket.send(AgentRefusal(.ending, "it is ending").packet) }
    let ran = try tool("get", "mail")
    try await served.value
    expect(0, ran)
    expect(ran.text, equals: "secret")
  }

  @Test(
    "a signal that came before the agent refuses, or ends, ends the command, which does nothing by itself",
    .requirement("G5"), arguments: [false, true])
  func signalBefore(isRefused: Bool) async throws {
    let (tool, agent) = try Self.make()
    let served = agent.serveUntaken { request in
      kill(try #require(request.socket.peer).process, SIGTERM)
      try expect(#require(try request.socket.receive()).kind, equals: .signal)
      if isRefused { try request.socket.send(AgentRefusal(.full, "it has no room").packet) }
    }
    let out = tool.home.path + "/out"
    var child = Child(Tool.path, ["get", "mail"], tool.environment)
    child.create(1, out)
    try expect(child.start().wait(), equals: -SIGTERM)
    try await served.value
    try expect(String(contentsOfFile: out, encoding: .utf8), equals: "")
  }

  @Test("a verb about the agent says why an agent that is there did not run it", .requirement("G11"))
  func aboutAgent() async throws {
    let (tool, agent) = try Self.make()
    let served = agent.serveUntaken { try $0.socket.send(AgentRefusal(.full, "it has no room").packet) }
    let ran = try tool("lock")
    try await served.value
    expect(13, ran, "the agent did not run this: it has no room")
    #expect(!ran.errors.contains("--agent required"), "\(ran.errors)")
  }

  @Test("ends with 13 where the agent sends what no agent sends", .requirement("G11"))
  func nonsense() async throws {
    let (tool, agent) = try Self.make()
    let served = agent.serve { request in
      try request.socket.send(AgentSignal(15).packet)
      _ = try? request.socket.receive()
    }
    expect(13, try tool("get", "mail"), "the agent sent what this version does not understand")
    try await served.value
  }

  @Test(
    "refuses its vault's own files as input and output, and sends nothing", .requirement("G9"),
    arguments: ["", "-wal"])
  func vaultAsInput(suffix: String) async throws {
    let (tool, agent) = try Self.make()
    let vault = tool.home.path + "/.local/share/vaultctl/default.vault"
    if !suffix.isEmpty { try Data().write(to: URL(fileURLWithPath: vault + suffix)) }
    let served = onThread { try agent.accept().receive() == nil }
    var child = Child(Tool.path, ["ls", "--json"], tool.environment)
    child.open(0, vault + suffix)
    child.create(1, tool.home.path + "/1")
    child.create(2, tool.home.path + "/2")
    try expect(child.start().wait(), equals: 9)
    await #expect(throws: AgentMessageError.gone) { try await served.value }
    let errors = try String(contentsOfFile: tool.home.path + "/2", encoding: .utf8)
    #expect(errors.contains("vaultAsInput") && errors.contains("standard input"))
  }

  @Test(
    "does not ask the agent for what is wrong, for help, for what it does by itself and with --agent never",
    .requirement("G11"),
    arguments: [
      "2 item get", "2 item gte mail", "0 --help", "0 item get --help", "0 version", "0 vault path",
      "0 item get mail --agent never", "2 item list --agent sometimes", "14 item list --vault /nowhere",
      "0 completion bash", "0 backup --help",
    ])
  func notAsked(line: String) throws {
    let (tool, agent) = try Self.make()
    let words = line.split(separator: " ").map(String.init)
    expect(try #require(Int32(words[0])), try tool.run(Array(words.dropFirst())))
    #expect(!agent.isAsked)
  }

  @Test("refuses another word in its variable", .requirement("G11"))
  func badVariable() throws {
    let (tool, agent) = try Self.make()
    tool.environment["VAULTCTL_AGENT"] = "/tmp/agent"
    expect(2, try tool("ls"), "$VAULTCTL_AGENT takes one of auto, never, required")
    tool.environment["VAULTCTL_AGENT"] = "never"
    expect(0, try tool("ls"))
    #expect(!agent.isAsked)
  }

  @Test("does a command line that is too long for the agent by itself", .requirement("G11"))
  func longLine() throws {
    let (tool, agent) = try Self.make()
    let words = ["run", "--fd", "3=mail", "--", "true", String(repeating: "c", count: 64 << 10)]
    let plain = try tool.run(["run", "--agent", "never"] + words.dropFirst(), input: [])
    #expect(!agent.isAsked)
    let ran = try tool.run(words, input: [])
    expect(plain.exit, ran, plain.errors)
    #expect(agent.isAsked)
  }
}
