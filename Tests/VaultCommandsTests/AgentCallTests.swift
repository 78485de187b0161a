import AgentMessages
import CommandLineKit
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultCommands
import VaultKit
import VaultPrompts

/// The host of a command in an agent, and the process of the command that answers it.
@Suite("What an agent asks of a command's process", .bounded)
struct AgentCallTests {
  private static func make() throws -> (tool: Tool, agent: ScriptedAgent) {
    let tool = try Tool()
    expect(0, try tool("init", "--no-passcode"))
    return (tool, try ScriptedAgent(for: tool))
  }

  @Test("a file with a secret is opened by the rules of the command", .requirement("G10"))
  func secretFile() async throws {
    let (tool, agent) = try Self.make()
    let good = try tool.file("good", "correct horse\n")
    let open = try tool.file("open", "correct horse\n", mode: 0o644)
    let served = agent.serveCalls { host, _ in
      let text = try host.lend(.secret(path: good, of: .passcode)) { Self.text(of: $0) }
      let failure = Self.failure { try host.lend(.secret(path: open, of: .passcode)) { _ in } }
      return (text, failure)
    }
    expect(0, try tool("ls"))
    let (text, failure) = try await served.value
    expect(text, equals: "correct horse\n")
    expect(failure?.exit.rawValue, equals: 13)
    expect(
      failure?.message,
      equals: "the file with the passcode, \(open), can be read or changed by others")
    #expect(failure?.hint?.contains("chmod 600 \(open)") == true)
  }

  @Test(
    "a descriptor by its number is that of the command; one that it does not have is an error",
    .requirement("G10"))
  func descriptors() async throws {
    let (tool, agent) = try Self.make()
    let served = agent.serveCalls { host, _ in
      let text = try host.lend(.descriptor(3)) { Self.text(of: $0) }
      // Among these are the descriptors that the command uses for the agent.
      let failures = (Int32(4)..<64).map { number in
        Self.failure { try host.lend(.descriptor(number)) { _ in } }?.exit.rawValue
      }
      return (text, failures)
    }
    expect(0, try tool("ls", secrets: [3: "three"]))
    let (text, failures) = try await served.value
    expect(text, equals: "three")
    expect(Set(failures), equals: [13])
  }

  @Test("a file of the vault is refused, whichever option names it", .requirement("G9"))
  func vaultFile() async throws {
    let (tool, agent) = try Self.make()
    let vault = tool.home.path + "/.local/share/vaultctl/default.vault"
    let served = agent.serveCalls { host, _ in
      Self.failure { try host.lend(.readable(path: vault, doing: "opening it")) { _ in } }
    }
    expect(0, try tool("ls"))
    let failure = try await served.value
    expect(failure?.exit.rawValue, equals: 9)
    expect(failure?.code, equals: "vaultAsInput")
  }

  @Test(
    "a file of any vault that the agent has open is refused, and ended by the agent's rule",
    .requirement("G9"))
  func otherVaultFile() async throws {
    let (tool, agent) = try Self.make()
    let other = try tool.file("other.vault", "")
    let served = agent.serve { request in
      let link = ClientLink(request.socket, interruption: Interruption()) { _ in true }
      let reading = onThread { while let packet = try link.socket.receive() { try link.received(packet) } }
      defer { _ = reading }
      let failure = Self.failure {
        try RemoteHost(link).lend(.readable(path: other, doing: "opening it")) { _ in }
      }
      try request.end(.exit(0))
      return failure?.code
    }
    expect(0, try tool("ls"))
    try await expect(served.value, equals: "vaultAsInput")
  }

  @Test(
    "a new file gets its name when it is whole, and leaves nothing if it ends before", .requirement("G10"))
  func newFiles() async throws {
    let (tool, agent) = try Self.make()
    let (whole, dropped) = (tool.home.path + "/whole", tool.home.path + "/dropped")
    let served = agent.serveCalls { host, _ in
      let interruption = Interruption()
      do {
        let file = try host.makeFile(whole, interruption: interruption)
        Self.write("all of it", to: file.descriptor)
        try file.finish()
        let draft = try host.makeFile(dropped, interruption: Interruption())
        Self.write("a part", to: draft.descriptor)
      }
      let taken = Self.failure { _ = try host.makeFile(whole, interruption: Interruption()) }
      return (try host.exists(whole), try host.exists(dropped), taken?.exit.rawValue)
    }
    expect(0, try tool("ls"))
    let (isThere, isDropped, taken) = try await served.value
    #expect(isThere && !isDropped)
    expect(taken, equals: 8)
    try expect(String(contentsOfFile: whole, encoding: .utf8), equals: "all of it")
    let mode = try FileManager.default.attributesOfItem(atPath: whole)[.posixPermissions] as? Int
    expect(mode, equals: 0o600)
    let names = try FileManager.default.contentsOfDirectory(atPath: tool.home.path)
    #expect(!names.contains { $0.contains("dropped") })
  }

  @Test("a signal that came first keeps a file from its name", .requirement("G5"))
  func interruptedFile() async throws {
    let (tool, agent) = try Self.make()
    let path = tool.home.path + "/new"
    let served = agent.serveCalls { host, _ in
      let interruption = Interruption()
      let file = try host.makeFile(path, interruption: interruption)
      interruption.came(SIGTERM)
      return Self.failure { try file.finish() }?.exit.rawValue
    }
    expect(0, try tool("ls"))
    try await expect(served.value, equals: 5)
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test(
    "without a person to ask, the failure of the prompt says the same as without an agent",
    .requirement("G10"))
  func nobody() async throws {
    let (tool, agent) = try Self.make()
    let served = agent.serveCalls { host, _ in
      let request = PromptRequest(.passcode, operation: "unlock")
      let typed = Self.prompted { try host.prompt(.automatic).type(request, limit: 100, isRepeated: false) }
      let confirmed = Self.failure(VaultError.self) { _ = try host.prompt(.automatic).confirm(request) }
      return (typed, confirmed?.code)
    }
    var child = Child(Tool.path, ["ls"], tool.environment)
    child.leadsSession = true
    try expect(child.start().wait(), equals: 0)
    let (typed, confirmed) = try await served.value
    guard case .failed(.nobody(terminal: .noTerminal?, pinentry: _)) = typed else {
      throw Unexpected(what: "\(typed)")
    }
    expect(confirmed, equals: .interactionNotAllowed)
  }

  private struct Unexpected: Error { let what: String }
}

extension AgentCallTests {
  @Test(
    "a person types on the terminal of the command, and the answer comes to the agent", .requirement("G10"))
  func typed() async throws {
    let (tool, agent) = try Self.make()
    let screen = try PseudoTerminal()
    let served = agent.serveCalls { host, _ in
      Self.prompted {
        var request = PromptRequest(.passcode, operation: "vaultctl get: unlock the vault")
        request.problem = "wrong passcode"
        return try host.prompt(.terminal).type(request, limit: 100, isRepeated: false)
      }
    }
    let running = try tool.start(["ls"], on: screen)
    try screen.wait(for: "wrong passcode")
    try screen.wait(for: "passcode: ")
    screen.type("correct horse\n")
    guard case .typed(let text) = try await served.value else { throw Unexpected(what: "no answer") }
    expect(text, equals: "correct horse")
    try expect(running.wait(), equals: 0)
    #expect(screen.echoes && !screen.transcript.contains("horse"))
  }

  @Test(
    "a prompt ends where the agent no longer wants its answer, and the terminal is as before",
    .requirement("G4"))
  func cancelled() async throws {
    let (tool, agent) = try Self.make()
    let screen = try PseudoTerminal()
    let (links, link) = AsyncStream.makeStream(of: ClientLink.self)
    let served = agent.serveCalls { host, mine in
      link.yield(mine)
      return Self.prompted {
        try host.prompt(.terminal).type(PromptRequest(.passcode, operation: "x"), limit: 9, isRepeated: false)
      }
    }
    let running = try tool.start(["ls"], on: screen)
    var iterator = links.makeAsyncIterator()
    let open = try #require(await iterator.next())
    try screen.wait(for: "passcode: ")
    open.cancel()
    // Not as a person cancels it. Would fail at b471ba6f, which said that one did.
    guard case .failed(.pinentry(let error)) = try await served.value, error.code == .appCancelled,
      error.promptOutcome == .program
    else { throw Unexpected(what: "not ended by the agent") }
    try expect(running.wait(), equals: 0)
    #expect(screen.echoes)
  }

  @Test("an agent that ends during a prompt ends the prompt and the command", .requirement("G4"))
  func lostAtPrompt() async throws {
    let (tool, agent) = try Self.make()
    let screen = try PseudoTerminal()
    let served = agent.serve { request in
      var content = AgentFields<AgentCall.Content>()
      content.set(.way, "terminal")
      content.set(.limit, Int64(9))
      content.set(.request, PromptRequest(.passcode, operation: "x").message)
      try request.socket.send(AgentCall(1, .type, content).packet)
      return request
    }
    let running = try tool.start(["ls"], on: screen)
    let request = try await served.value
    try screen.wait(for: "passcode: ")
    request.socket.finish()
    try expect(running.wait(), equals: 13)
    try screen.wait(for: "the agent has ended")
    #expect(screen.echoes)
  }

  @Test(
    "a signal goes to the agent, and the command ends by it", .requirement("G5"),
    arguments: [SIGTERM, SIGHUP])
  func signal(number: Int32) async throws {
    let (tool, agent) = try Self.make()
    let (processes, process) = AsyncStream.makeStream(of: Void.self)
    let served = agent.serve { request in
      process.yield()
      let signal = try AgentSignal(#require(try request.socket.receive())).number
      try request.end(.signal(signal))
      return signal
    }
    let running = try Child(Tool.path, ["ls"], tool.environment).start()
    var iterator = processes.makeAsyncIterator()
    _ = await iterator.next()
    running.kill(number)
    try await expect(served.value, equals: number)
    try expect(running.wait(), equals: -number)
  }

  @Test("after a signal that came too late the command waits for the result", .requirement("G5"))
  func held() async throws {
    let (tool, agent) = try Self.make()
    let (processes, process) = AsyncStream.makeStream(of: Void.self)
    let served = agent.serve { request in
      let interruption = Interruption()
      try interruption.hold()
      let link = ClientLink(request.socket, interruption: interruption)
      process.yield()
      for _ in 0..<2 { try link.received(#require(try request.socket.receive())) }
      try request.end(.exit(0))
    }
    let running = try Child(Tool.path, ["ls"], tool.environment).start()
    var iterator = processes.makeAsyncIterator()
    _ = await iterator.next()
    running.kill(SIGTERM)
    running.kill(SIGHUP)
    try await served.value
    try expect(running.wait(), equals: 0)
  }

  @Test(
    "a command whose verb does not end after a signal ends by itself, and its connection with it",
    .requirement("G5"))
  func stuck() async throws {
    let (tool, agent) = try Self.make()
    let (processes, process) = AsyncStream.makeStream(of: Void.self)
    let served = agent.serve { request in
      process.yield()
      _ = try request.socket.receive()
      _ = try request.socket.receive()
    }
    var environment = tool.environment
    environment["VAULTCTL_TESTING_AFTER_SIGNAL"] = "0"
    let running = try Child(Tool.path, ["ls"], environment).start()
    var iterator = processes.makeAsyncIterator()
    _ = await iterator.next()
    running.kill(SIGINT)
    await #expect(throws: AgentMessageError.gone) { try await served.value }
    try expect(running.wait(), equals: 130)
  }
}

// MARK: What the agent's side sees, as values that leave its thread

extension AgentCallTests {
  private enum Prompted: Sendable {
    case typed(String)
    case failed(PromptFailure?)
  }

  private static func prompted(_ body: () throws -> SecretBytes) -> Prompted {
    do {
      return .typed(
        try body().expose { bytes in
          unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
        })
    } catch { return .failed(error as? PromptFailure) }
  }

  /// The error of the body, if it is of this type.
  private static func failure<E: Error>(_ type: E.Type = CommandError.self, _ body: () throws -> Void) -> E? {
    do {
      try body()
      return nil
    } catch { return error as? E }
  }

  private static func text(of descriptor: Int32) -> String {
    String(decoding: (try? FileHandle(fileDescriptor: descriptor).readToEnd()) ?? Data(), as: UTF8.self)
  }

  private static func write(_ text: String, to descriptor: Int32) {
    try? FileHandle(fileDescriptor: descriptor).write(contentsOf: Data(text.utf8))
  }
}
