import AgentMessages
import CLinux
import Foundation
import TestSupport
import Testing
import VaultCommands

/// An agent within the test, to which the commands of a tool connect. It does with a request what the test says.
final class ScriptedAgent: Sendable {
  /// A request that came, with standard input, output and error of its command.
  struct Request: Sendable {
    let socket: AgentSocket
    let run: AgentRun
    let descriptors: [Int32]

    /// Writes to the standard output of the command.
    func write(_ text: String) {
      let bytes = Array(text.utf8)
      _ = unsafe Foundation.write(descriptors[1], bytes, bytes.count)
    }

    func end(_ ending: AgentEnding) throws {
      for descriptor in descriptors { close(descriptor) }
      try socket.send(ending.packet)
    }
  }

  /// Stands for `$XDG_RUNTIME_DIR`. Its path is short, because that of a socket is.
  let runtime: String
  let place: AgentPlace
  private let listener: Int32

  /// From here on the commands of the tool find this agent.
  init(for tool: Tool) throws {
    runtime = "/tmp/agent-" + UUID().uuidString.prefix(13)
    try FileManager.default.createDirectory(
      atPath: runtime, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    place = try #require(AgentPlace(runtime: runtime, standard: nil))
    try place.makeDirectory()
    listener = unsafe clinux_listen_packets(place.socket)
    try #require(listener >= 0)
    tool.environment["XDG_RUNTIME_DIR"] = runtime
  }

  deinit {
    close(listener)
    try? FileManager.default.removeItem(atPath: runtime)
  }

  /// Takes the next request on a thread of its own, and gets the descriptors of the command.
  func serve<Value: Sendable>(
    _ body: @escaping @Sendable (Request) throws -> Value
  ) -> Task<Value, any Error> {
    onThread { [self] in
      let socket = try accept()
      let packet = try #require(try socket.receive())
      try socket.send(AgentBegun.packet)
      let standard = try AgentStandard.descriptors(of: #require(try socket.receive()))
      return try body(Request(socket: socket, run: AgentRun(packet), descriptors: standard.take()))
    }
  }

  /// Reads the next request on a thread of its own, and does not take it.
  func serveUntaken<Value: Sendable>(
    _ body: @escaping @Sendable (Request) throws -> Value
  ) -> Task<Value, any Error> {
    onThread { [self] in
      let socket = try accept()
      let packet = try #require(try socket.receive())
      return try body(Request(socket: socket, run: AgentRun(packet), descriptors: []))
    }
  }

  /// Takes the next request, and answers the calls that the body makes through a host.
  func serveCalls<Value: Sendable>(
    ending: AgentEnding = .exit(0), _ body: @escaping @Sendable (RemoteHost, ClientLink) throws -> Value
  ) -> Task<Value, any Error> {
    serve { request in
      let link = ClientLink(request.socket, interruption: Interruption())
      let reading = onThread { Self.read(link) }
      defer { _ = reading }
      let value = try body(RemoteHost(link), link)
      try request.end(ending)
      return value
    }
  }

  /// What the thread of an agent does that reads a connection.
  private static func read(_ link: ClientLink) {
    do { while let packet = try link.socket.receive() { try link.received(packet) } } catch { link.gone() }
  }

  /// The next connection; waits for one.
  func accept() throws -> AgentSocket {
    var wait = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
    let isThere = unsafe poll(&wait, 1, Int32(patience.components.seconds) * 1000) == 1
    try #require(isThere, "no command connected")
    return AgentSocket(owning: Foundation.accept(listener, nil, nil))
  }

  /// Whether a command has connected that was not taken.
  var isAsked: Bool {
    var wait = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&wait, 1, 0) == 1
  }

  /// Ends without removing the socket.
  static func leaveDeadSocket(for tool: Tool) throws -> ScriptedAgent {
    let agent = try ScriptedAgent(for: tool)
    shutdown(agent.listener, Int32(SHUT_RDWR))
    return agent
  }
}
