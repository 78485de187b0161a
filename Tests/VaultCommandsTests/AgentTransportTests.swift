import AgentMessages
import Foundation
import SecretMemory
import TestSupport
import Testing
import TransportPrograms
import VaultCommands
import VaultKit
import VaultTestKit

/// The programs of transports, which an agent has the process of the command run.
@Suite("Transports of a command in the agent", .bounded, .requirement("G15"))
struct AgentTransportTests {
  /// A tool with a vault, an agent, and a program of this script as a transport.
  private static func make(_ script: String) throws -> (tool: Tool, agent: ScriptedAgent, path: String) {
    let tool = try Tool()
    expect(0, try tool("init", "--no-passcode"))
    let path = try tool.program("transport", "#!/bin/sh\n" + script + "\n")
    return (tool, try ScriptedAgent(for: tool), path)
  }

  @Test(
    "a request and an answer of any length come through byte for byte",
    arguments: [0, 1, 49_152, 49_153, 200_000])
  func lengths(count: Int) async throws {
    let (tool, agent, path) = try Self.make("exec cat")
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
    let served = agent.serveCalls { host, _ in
      let request = SharedSecret(SecretBytes(copying: bytes))
      let answer = try host.programs(within: .zero).run(path, with: request, until: PromptEnding())
      return answer.isEqualInConstantTime(to: request.bytes)
    }
    expect(0, try tool("ls"))
    #expect(try await served.value)
  }

  @Test("the program has the environment of the command, and as few descriptors as without an agent")
  func environment() async throws {
    let (tool, agent, path) = try Self.make("printf %s \"$OF_COMMAND\"")
    let counting = try tool.program("counting", "#!/bin/sh\nls /proc/self/fd\n")
    tool.environment["OF_COMMAND"] = "here"
    let served = agent.serveCalls { host, _ in
      let remote = host.programs(within: .zero)
      return try (Self.text(remote, path), Self.text(remote, counting))
    }
    expect(0, try tool("ls"))
    let (variable, descriptors) = try await served.value
    expect(variable, equals: "here")
    try expect(descriptors, equals: Self.text(Self.local, counting))
  }

  @Test(
    "what is wrong with a program is said in the same words as without an agent",
    arguments: ["exit 7", "kill -9 $$", "head -c 1100000 /dev/zero", "exec /absent"])
  func failures(script: String) async throws {
    let (tool, agent, path) = try Self.make(script)
    let served = agent.serveCalls { host, _ in
      Self.failure { _ = try Self.text(host.programs(within: .zero), path) }
    }
    expect(0, try tool("ls"))
    let here = Self.failure { _ = try Self.text(Self.local, path) }
    try await expect(served.value, equals: here)
    expect(here?.code, equals: .network)
  }

  @Test("a program is checked where it is started", arguments: ["absent", "draft", "open"])
  func checked(name: String) async throws {
    let (tool, agent, path) = try Self.make("exit 0")
    unsafe chmod(try tool.program("open", "#!/bin/sh\n"), 0o722)
    let file = name == "draft" ? path + ".draft" : tool.home.path + "/" + name
    let served = agent.serveCalls { host, _ in
      Self.failure { try host.programs(within: .zero).check(file) }
    }
    expect(0, try tool("ls"))
    let here = Self.failure { try Self.local.check(file) }
    try await expect(served.value, equals: here)
    expect(here?.code, equals: .network)
  }
}

// MARK: The end of a program that hangs

extension AgentTransportTests {
  private static let hanging =
    "echo $$ > \"$HOME/part\"; mv \"$HOME/part\" \"$HOME/pid\"; exec sleep infinity"

  @Test("an answer that is no longer wanted ends the program, and the command goes on")
  func ended() async throws {
    let (tool, agent, path) = try Self.make(Self.hanging)
    let ending = PromptEnding()
    let served = agent.serveCalls { host, _ in
      Self.failure { _ = try Self.text(host.programs(within: .zero), path, until: ending) }
    }
    let running = try Child(Tool.path, ["ls"], tool.environment).start()
    let program = try Self.program(of: tool)
    ending.end()
    try await expect(served.value?.code, equals: .appCancelled)
    try waitUntil("the end of the program") { hasEnded(program) }
    try expect(running.wait(), equals: 0)
  }

  @Test("the end of the agent ends the program and the command")
  func lost() async throws {
    let (tool, agent, path) = try Self.make(Self.hanging)
    let served = agent.serve { request in
      var content = AgentFields<AgentCall.Content>()
      content.set(.path, path)
      content.set(.secret, SharedSecret(SecretBytes(zeroes: 0)))
      try request.socket.send(AgentCall(1, .runProgram, content).packet)
      return request
    }
    var child = Child(Tool.path, ["ls"], tool.environment)
    child.create(2, tool.home.path + "/errors")
    let running = try child.start()
    let program = try Self.program(of: tool)
    try await served.value.socket.finish()
    try waitUntil("the end of the program") { hasEnded(program) }
    try expect(running.wait(), equals: 13)
    #expect(
      try String(contentsOfFile: tool.home.path + "/errors", encoding: .utf8).contains("the agent has ended"))
  }

  @Test("a signal is the agent's to judge: held, the program ends as it does, and so does the command")
  func held() async throws {
    let (tool, agent, path) = try Self.make("exec cat")
    let gate = try NamedPipe(tool.home.path + "/gate")
    let waiting = try tool.program(
      "waiting", "#!/bin/sh\n: > \"$HOME/pid\"; : < '\(gate.path)'; exec '\(path)'\n")
    let (signals, signal) = AsyncStream.makeStream(of: Void.self)
    let served = agent.serve { request in
      let interruption = Interruption()
      try interruption.hold()
      let link = ClientLink(request.socket, interruption: interruption)
      let reading = onThread {
        while let packet = try link.socket.receive() {
          try link.received(packet)
          if packet.kind == .signal { signal.yield() }
        }
      }
      defer { _ = reading }
      let text = try Self.text(RemoteHost(link).programs(within: .zero), waiting)
      try request.end(.exit(0))
      return text
    }
    let running = try Child(Tool.path, ["ls"], tool.environment).start()
    try waitUntil("the program") { FileManager.default.fileExists(atPath: tool.home.path + "/pid") }
    running.kill(SIGTERM)
    var iterator = signals.makeAsyncIterator()
    _ = await iterator.next()
    gate.open()
    try await expect(served.value, equals: "request")
    withExtendedLifetime(gate) {}
    try expect(running.wait(), equals: 0)
  }

  @Test("where the agent does not answer a signal, the command ends the program and itself")
  func stuck() async throws {
    let (tool, agent, path) = try Self.make(Self.hanging)
    let served = agent.serve { request in
      var content = AgentFields<AgentCall.Content>()
      content.set(.path, path)
      content.set(.secret, SharedSecret(SecretBytes(zeroes: 0)))
      try request.socket.send(AgentCall(1, .runProgram, content).packet)
      while try request.socket.receive() != nil {}
    }
    tool.environment["VAULTCTL_TESTING_AFTER_SIGNAL"] = "0"
    let running = try Child(Tool.path, ["ls"], tool.environment).start()
    let program = try Self.program(of: tool)
    running.kill(SIGINT)
    try expect(running.wait(), equals: 130)
    try waitUntil("the end of the program") { hasEnded(program) }
    await #expect(throws: AgentMessageError.gone) { try await served.value }
  }

  /// The number of the program that hangs.
  private static func program(of tool: Tool) throws -> pid_t {
    let path = tool.home.path + "/pid"
    try waitUntil("the program runs") { FileManager.default.fileExists(atPath: path) }
    return try #require(pid_t(try String(contentsOfFile: path, encoding: .utf8).filter(\.isNumber)))
  }

  /// What starts programs without an agent.
  private static let local = LocalRunner(.init(time: .seconds(86_400)))

  private static func text(
    _ runner: any ProgramRunner, _ path: String, until ending: PromptEnding = PromptEnding()
  ) throws -> String {
    let request = SharedSecret(SecretBytes(testing: "request"))
    return try runner.run(path, with: request, until: ending).expose { bytes in
      unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }
  }

  /// All that an error says.
  private struct Said: Sendable, Equatable {
    let code: VaultError.Code
    let message: String
    let hint: String?
    let underlying: Int32?
    let isFinal: Bool

    init(_ error: VaultError) {
      (code, message, hint) = (error.code, error.message, error.hint)
      (underlying, isFinal) = (error.underlying, error.isFinal)
    }
  }

  private static func failure(_ body: () throws -> Void) -> Said? {
    do {
      try body()
      return nil
    } catch { return (error as? VaultError).map(Said.init) }
  }
}
