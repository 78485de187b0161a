import AgentMessages
import CommandLineKit
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultAgent
import VaultCommands
import VaultKit
import VaultTestKit

/// The real main loop of an agent, of which the test calls each turn, and clients in the same process. Its vault has the passcode 1234
/// and the item "mail"; its clock stands at 1,000 s after boot.
final class AgentRig {
  let clock = FixedClock()
  let place: TemporaryVault
  /// The vault as another process has it open, locked.
  let core: VaultCore
  let service: AgentService
  let loop: AgentLoop
  private let runtime: ShortFolder
  private let deviceKey: String

  /// - Parameters:
  ///   - isKeeper: Whether it serves as a keeper, for the user of the tests and without a vault.
  ///   - mostConnections: As many requests as the agent runs, but for those that are about itself.
  init(isKeeper: Bool = false, mostConnections: Int = AgentLoop.usualConnections) throws {
    runtime = try ShortFolder()
    place = TemporaryVault(TestWorld(clock: clock))
    core = try place.makeCore(passcode: "1234")
    _ = try core.add(NewItem(.genericPassword, name: "mail"), secret: SecretBytes(testing: "tok-1"))
    core.lock()
    let outline = try VaultCore.outline(at: place.path)
    deviceKey = place.protector.path(of: outline.deviceKey, outline.vault)
    var world = World(environment: Environment([:]))
    world.vault = .testing(clock: clock)
    world.isKeeper = isKeeper
    world.keeper = KeeperPlace(of: geteuid(), states: place.folder + "/states")
    service = try AgentService(in: world)
    loop = AgentLoop(
      service, listeningOn: try ListeningSocket(making: try runtime.place().socket), timer: nil,
      mostConnections: mostConnections)
  }

  /// The path of the agent's socket.
  var socketPath: String { get throws { try runtime.place().socket } }

  /// Whether the vault is unlocked in the agent.
  var isUnlocked: Bool { service.vaults.all().contains(where: \.isUnlocked) }

  /// Whether a command finds the agent.
  var takesConnections: Bool { get throws { try runtime.place().connect() != nil } }

  /// A client that has connected and said nothing.
  func connect() throws -> AgentSocket { try #require(try runtime.place().connect()) }

  /// A client that has sent its command line.
  func send(
    _ words: String..., input: Int32? = nil, version: String? = nil, deviceKey: String? = nil
  ) throws -> Client {
    let client = try Client(connect())
    try client.send(request(words, version: version, deviceKey: deviceKey), input: input)
    return client
  }

  func request(_ words: [String], version: String? = nil, deviceKey: String? = nil, path: String? = nil)
    throws -> AgentRun
  {
    let file = try #require(FileIdentity(of: place.path))
    let identity = AgentRun.Vault.Identity(device: file.device, inode: file.inode)
    return AgentRun(
      version: version ?? service.world.agentVersion, words: words,
      vault: AgentRun.Vault(path: path ?? place.path, identity: identity),
      deviceKey: deviceKey ?? self.deviceKey)
  }

  /// A request as a command makes it that means the vault in the keeper.
  func keeperRequest(_ words: String...) throws -> AgentRun {
    AgentRun(
      version: service.world.agentVersion, words: words,
      vault: AgentRun.Vault(path: service.world.keeper.vault, identity: nil))
  }

  /// Turns the loop until something is so.
  func turn(until what: String, _ isSo: () throws -> Bool) throws {
    try waitUntil(what) {
      loop.turn(waits: false)
      return try isSo()
    }
  }

  /// The next packet of the agent. When the agent says that it takes the request, the client sends its descriptors.
  func packet(for client: Client) throws -> AgentPacket {
    var packet: AgentPacket?
    try turn(until: "a packet") {
      packet = try client.socket.receive(waits: false)
      guard packet?.kind == .begun else { return packet != nil }
      try client.lend()
      return false
    }
    return try #require(packet)
  }

  /// Turns until the agent takes the request of a client, which then sends its descriptors.
  func begin(_ client: Client) throws {
    var packet: AgentPacket?
    try turn(until: "the word that the agent takes the request") {
      packet = try client.socket.receive(waits: false)
      return packet != nil
    }
    try expect(#require(packet).kind, equals: .begun)
    try client.lend()
  }

  /// Answers prompts with a passcode until the verb has ended.
  ///
  /// - Returns: How it ended, what it printed, and how many prompts there were.
  func end(_ client: Client, passcode: String? = nil) throws -> (
    ending: AgentEnding, text: String, prompts: Int
  ) {
    var prompts = 0
    while true {
      let packet = try packet(for: client)
      guard packet.kind != .ended else { return (try AgentEnding(packet), client.text, prompts) }
      // One that has an answer already can be cancelled.
      guard packet.kind != .cancel else { continue }
      let call = try AgentCall(packet)
      prompts += 1
      try client.answer(call, passcode)
    }
  }

  /// Runs a command line to its end.
  func run(_ words: String..., passcode: String? = nil) throws -> (
    ending: AgentEnding, text: String, prompts: Int
  ) {
    let client = try Client(connect())
    try client.send(request(words), input: nil)
    return try end(client, passcode: passcode)
  }
}

/// A client of the agent, in the process of the test.
final class Client {
  let socket: AgentSocket
  private let output: Scratch
  private let errors: Scratch
  /// Standard input, which stays the caller's; nil for /dev/null.
  private var input: Int32?

  init(_ socket: AgentSocket) throws {
    self.socket = socket
    output = try Scratch()
    errors = try Scratch()
  }

  var text: String { String(decoding: output.content, as: UTF8.self) }
  var errorText: String { String(decoding: errors.content, as: UTF8.self) }

  /// Sends the request. The descriptors follow when the agent takes it.
  func send(_ run: AgentRun, input: Int32?) throws {
    self.input = input
    let null = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
    defer { close(null) }
    try socket.send(run.packet(AgentDescriptors(lending: [null, null, null])))
  }

  /// Sends standard input, output and error.
  func lend() throws {
    let null = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(null) }
    let standard = [input ?? null, output.descriptor, errors.descriptor]
    try socket.send(AgentStandard.packet(AgentDescriptors(lending: standard)))
  }

  /// - Parameter passcode: nil for a person who cancels.
  func answer(_ call: AgentCall, _ passcode: String?) throws {
    guard let passcode else {
      return try socket.send(AgentReply(call.number, .failure(Self.cancelled)).packet)
    }
    var content = AgentFields<AgentReply.Content>()
    content.set(.secret, SharedSecret(SecretBytes(testing: passcode)))
    try socket.send(AgentReply(call.number, .content(content)).packet)
  }

  /// As the terminal's prompt says it that was cancelled.
  private static var cancelled: AgentFields<AgentReply.Failure> {
    var inner = AgentFields<AgentReply.Failure>()
    inner.set(.kind, Int64(6))
    var fields = AgentFields<AgentReply.Failure>()
    fields.set(.kind, Int64(1))
    fields.set(.terminal, inner)
    return fields
  }
}
