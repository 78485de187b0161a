package import AgentMessages
package import CommandLineKit
import Glibc
import SecretMemory
import VaultPrompts
import VaultWords

/// Has the agent run a verb, where there is one, with the descriptors of this process.
enum AgentClient {
  /// Runs a command line that the parser has accepted.
  ///
  /// - Returns: How the command ends; nil if no agent ran it, and nothing was done.
  /// - Throws: Exit 13 or 9 where an agent is required and none can be used, 9 for a vault's own file as input, 13 if the agent
  ///   ends before the verb does.
  static func run(
    _ invocation: Invocation, words: [String], in world: World, messages: Messages
  ) throws(CommandError) -> Ending? {
    guard world.agent == nil, let host = world.host as? LocalHost else { return nil }
    let verb = invocation.vaultVerb
    if try isForKeeper(verb, invocation, in: world) {
      return try runInKeeper(verb, invocation, words: words, in: world, host: host, messages: messages)
    }
    guard verb.runsIn == .agent else { return nil }
    let choice = try AgentChoice(invocation, in: world.environment)
    // The agent has other descriptors.
    let key = Places(invocation: invocation, world: world).deviceKey
    if let key, SecretInput.descriptor(named: key) != nil {
      guard choice != .required else {
        throw .usage(
          "a device key from a descriptor is not for the agent", hint: "name its file with --device-key")
      }
      return nil
    }
    guard choice != .never,
      let request = AgentRun(invocation, words: words, in: world, needsVault: verb.needs != .noVault)
    else { return nil }
    guard let socket = try connection(choice, for: verb, in: world, messages: messages) else { return nil }
    let vaultFiles = request.vault.map { VaultFiles(at: $0.path) }
    try refuseVaultFiles(vaultFiles, in: world)
    return try run(
      invocation, request, verb, on: socket, in: world, host: host, vaultFiles: vaultFiles
    ) { end throws(CommandError) in
      try goOn(after: end, choice, isAboutAgent: isAboutAgent(verb), in: world, messages: messages)
    }
  }

  /// Has a process run a command line whose connection is there.
  ///
  /// - Parameter goOn: What follows where that process did not take it.
  static func run(
    _ invocation: Invocation, _ request: AgentRun, _ verb: any VaultVerb.Type, on socket: AgentSocket,
    in world: World, host: LocalHost, vaultFiles: VaultFiles?, side: PersonsSide? = nil,
    goingOn goOn: (AgentSession.End) throws(CommandError) -> Ending?
  ) throws(CommandError) -> Ending? {
    let signals = try AgentSignals(ofProcess: ProcessSignals.areAdopted)
    let server = CallServer(
      invocation, in: world, host: host, vaultFiles: vaultFiles, side: side,
      isOwn: { $0 == socket.descriptor || signals.has($0) })
    let standard = [world.standardInput, world.standardOutput, world.standardError]
    let session = AgentSession(
      socket, lending: standard, server: server, signals: signals, patience: world.patience)
    let end = try host.holdingEndingSignal(for: world.patience.afterSignal) { () throws(CommandError) in
      // A signal that ended a prompt is delivered afterwards.
      defer { signals.giveBack() }
      return try serve(request, session, on: socket)
    }
    switch end {
    case .refused, .notTaken:
      // One that came meanwhile has ended nothing.
      if let number = session.signal ?? signals.next() { return .signal(number) }
      return try goOn(end)
    case .ended(.exit(0)) where verb == Exec.self:
      // One that came when the agent had done its part is for this process, not for the program.
      if let number = session.signal ?? signals.next() { return .signal(number) }
      // The agent is not held up while the program runs.
      socket.finish()
      return try become(ProgramStart(invocation, in: world, reading: server.environmentFile), server)
    case .ended(.exit(let code)): return .exit(exitCode(code))
    case .ended(.signal(let number)), .signalled(let number): return .signal(number)
    }
  }

  /// Sends the request and serves it to its end.
  private static func serve(
    _ request: AgentRun, _ session: AgentSession, on socket: AgentSocket
  ) throws(CommandError) -> AgentSession.End {
    do throws(AgentMessageError) {
      do throws(AgentMessageError) { try send(request, on: socket) } catch {
        return try error == .tooLong ? .refused(tooLong) : session.unsent()
      }
      return try session.serve()
    } catch { throw lost(error) }
  }

  /// Sends the request, with descriptors that stand for nothing. No option can name them: they end before the agent asks for one.
  private static func send(_ request: AgentRun, on socket: AgentSocket) throws(AgentMessageError) {
    let null = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
    guard null >= 0 else { throw .failed(errno) }
    defer { close(null) }
    try socket.send(request.packet(AgentDescriptors(lending: [null, null, null])))
  }

  /// Becomes the program of `exec`, or ends as it ends.
  ///
  /// - Returns: Never.
  private static func become(_ program: ProgramStart, _ server: CallServer) throws(CommandError) -> Ending? {
    guard server.handedOver.count == program.wanted.count else { throw lost(.wrongDescriptors) }
    try program.become(with: server.handedOver, after: server.done)
    return nil
  }

  private static var tooLong: AgentRefusal { AgentRefusal(.full, "the command line is too long for it") }

  /// Verbs that would say that there is no agent, where one does not do what they ask.
  private static func isAboutAgent(_ verb: any VaultVerb.Type) -> Bool {
    ["lock", "unlock", "agent"].contains(verb.words[0])
  }

  private static func exitCode(_ code: Int32) -> ExitCode {
    ExitCode.all.first { $0.rawValue == code } ?? ExitCode(code, meaning: "", code: "io")
  }
}

// MARK: Whether there is an agent

extension AgentClient {
  /// A connection to the agent.
  ///
  /// - Returns: nil if there is none that can be used, and none is required.
  private static func connection(
    _ choice: AgentChoice, for verb: any VaultVerb.Type, in world: World, messages: Messages
  ) throws(CommandError) -> AgentSocket? {
    do throws(AgentPlace.Flaw) {
      if let socket = try place(in: world)?.connect() { return socket }
    } catch {
      let (isThere, error) = (error.isOfAnAgent, CommandError(error))
      guard choice == .auto, !isThere || !isAboutAgent(verb) else { throw error }
      messages.warn("\(error.message); going on without an agent")
      return nil
    }
    guard choice == .auto else { throw noAgent }
    return nil
  }

  private static func place(in world: World) -> AgentPlace? {
    AgentPlace(runtime: world.environment["XDG_RUNTIME_DIR"], standard: world.standardRuntimeDirectory)
  }

  /// Whether an agent listens now.
  private static func isListening(in world: World) -> Bool {
    do throws(AgentPlace.Flaw) { return try place(in: world)?.connect() != nil } catch {
      return error.isOfAnAgent
    }
  }

  /// - Returns: nil: the command works by itself.
  /// - Throws: If an agent is required, and where a verb about the agent would say that there is none.
  private static func goOn(
    after end: AgentSession.End, _ choice: AgentChoice, isAboutAgent: Bool, in world: World,
    messages: Messages
  ) throws(CommandError) -> Ending? {
    switch end {
    case .refused(let refusal):
      try goOn(after: refusal, choice, isAboutAgent: isAboutAgent, messages: messages)
    case .notTaken(.ended) where isAboutAgent && isListening(in: world):
      throw CommandError(AgentSession.Untaken.dropped)
    case .notTaken(let why):
      guard choice == .auto, why == .ended || !isAboutAgent else { throw CommandError(why) }
      messages.warn("\(CommandError(why).message); going on without an agent")
    case .ended, .signalled: break
    }
    return nil
  }

  private static func goOn(
    after refusal: AgentRefusal, _ choice: AgentChoice, isAboutAgent: Bool, messages: Messages
  ) throws(CommandError) {
    guard refusal.reason != .vaultAsInput else { throw VaultFiles.refusal("standard input or output") }
    let text = "the agent did not run this: \(refusal.text)"
    let restart =
      refusal.reason == .version ? "restart it: 'vaultctl agent stop', then 'vaultctl agent start'" : nil
    // One that ends is none any more.
    guard choice == .auto, !isAboutAgent || refusal.reason == .ending else {
      let hint = choice == .auto ? hint(refusal.reason) : "leave '--agent required' out"
      throw CommandError(.io, text, hint: restart ?? hint, code: "agentRefused")
    }
    if let restart { messages.warn("\(text); \(restart)") }
  }

  /// What to do where only this agent can do what the command asks.
  private static func hint(_ reason: AgentRefusal.Reason) -> String {
    switch reason {
    case .otherKey: "set HOME, XDG_DATA_HOME, XDG_STATE_HOME and --device-key as the agent has them"
    case .full: "try again; if that lasts, end the process 'vaultd'"
    default: "try again"
    }
  }

  /// A descriptor of the vault's own file would take its locks from the agent.
  private static func refuseVaultFiles(_ files: VaultFiles?, in world: World) throws(CommandError) {
    let standard = [
      (world.standardInput, "standard input"), (world.standardOutput, "standard output"),
      (world.standardError, "standard error"),
    ]
    for (descriptor, name) in standard where files?.contains(descriptor) == true {
      throw VaultFiles.refusal(name)
    }
  }

  private static var noAgent: CommandError {
    CommandError(
      .io, "no agent is running",
      hint: "start one with 'vaultctl agent start', or leave '--agent required' out",
      code: "noAgent")
  }

  private static func lost(_ error: AgentMessageError) -> CommandError {
    CommandError(
      .io, error == .gone ? "the agent has ended" : "the agent sent what this version does not understand",
      hint: "what was done before that stays; see 'vaultctl audit'", code: "agentLost")
  }
}

extension AgentPlace.Flaw {
  /// Whether an agent is there all the same.
  fileprivate var isOfAnAgent: Bool { if case .failed(_, EAGAIN) = self { true } else { false } }
}

extension CommandError {
  /// Why the agent did not take a request.
  init(_ untaken: AgentSession.Untaken) {
    switch untaken {
    case .ended:
      self.init(
        .io, "the agent has ended before it began", hint: "start one with 'vaultctl agent start'",
        code: "noAgent")
    case .dropped:
      self.init(
        .io, "the agent ended the connection before it began, and still listens",
        hint: "try again; if that lasts, end the process 'vaultd'", code: "agentBusy")
    case .silent:
      self.init(
        .io, "the agent does not answer", hint: "try again; if that lasts, end the process 'vaultd'",
        code: "agentSilent")
    }
  }

  /// Why the socket of the agent is not used.
  package init(_ flaw: AgentPlace.Flaw) {
    switch flaw {
    case .isLink(let path): self = Self.untrusted("\(printable(path)) is a link", path)
    case .isOther(let path):
      self = Self.untrusted("\(printable(path)) is not what the agent makes there", path)
    case .isForeign(let path): self = Self.untrusted("\(printable(path)) belongs to another user", path)
    case .isExposed(let path): self = Self.untrusted("other users can reach \(printable(path))", path)
    case .isDead(let path):
      self.init(
        .io, "no agent listens at \(printable(path))", hint: "start one with 'vaultctl agent start'",
        code: "noAgent")
    case .failed(let path, EAGAIN):
      self.init(
        .io, "the agent at \(printable(path)) takes no more commands now",
        hint: "try again; if that lasts, end the process 'vaultd'", code: "agentBusy")
    case .failed(let path, let code): self = .io("using the agent's socket \(printable(path))", errno: code)
    }
  }

  private static func untrusted(_ message: String, _ path: String) -> CommandError {
    CommandError(
      .refused, "the agent's socket is not used: \(message)",
      hint: "remove \(printable(path)), then 'vaultctl agent start'", code: "agentNotTrusted")
  }
}
