import AgentMessages
import CommandLineKit
import Glibc
import VaultWords

/// Commands that mean the vault in the keeper. None of them goes on without it.
extension AgentClient {
  /// Whether a command means the vault in the keeper.
  ///
  /// - Throws: Exit 2 for a name that only begins like it.
  static func isForKeeper(
    _ verb: any VaultVerb.Type, _ invocation: Invocation, in world: World
  ) throws(CommandError) -> Bool {
    if isOfKeeperAlone(verb) { return true }
    guard verb.runsIn != .anywhere, !isOfAgentAlone(verb) else { return false }
    return try Places(invocation: invocation, world: world).isInKeeper
  }

  /// Verbs about the keeper, whatever vault a variable names.
  private static func isOfKeeperAlone(_ verb: any VaultVerb.Type) -> Bool {
    verb == KeeperStatus.self || verb == KeeperAdopt.self || verb == KeeperLeave.self
  }

  /// Verbs about the agent, whatever vault a variable names.
  private static func isOfAgentAlone(_ verb: any VaultVerb.Type) -> Bool {
    verb == AgentBegin.self || verb == AgentEnd.self || verb == AgentShowStatus.self
  }

  static func runInKeeper(
    _ verb: any VaultVerb.Type, _ invocation: Invocation, words: [String], in world: World, host: LocalHost,
    messages: Messages
  ) throws(CommandError) -> Ending? {
    if invocation[CommonOptions.agent] == .never, !isOfKeeperAlone(verb) {
      throw .usage(
        "--agent never and the keeper contradict each other", hint: "leave it out, or name a vault file")
    }
    guard verb.runsIn == .agent else { throw rootsWork(verb) }
    if verb == KeeperAdopt.self || verb == KeeperLeave.self {
      try Places(invocation: invocation, world: world).refuseVaultOption()
      if let failed = try settle(invocation, in: world, host: host) { return failed }
    }
    let socket = try connection(in: world)
    let side = try side(verb, invocation, in: world, messages: messages)
    let ending = try run(
      invocation, AgentRun(toKeeper: words, in: world), verb, on: socket, in: world, host: host,
      vaultFiles: nil, side: side
    ) { end throws(CommandError) in throw unserved(end) }
    if ending == .exit(.done) {
      do { try side?.finish() } catch { throw CommandError(describing: error) }
    }
    return ending
  }

  private static func connection(in world: World) throws(CommandError) -> AgentSocket {
    do throws(KeeperPlace.Flaw) { return try world.keeper.connect() } catch { throw CommandError(error) }
  }

  /// Has the keeper end a move that was interrupted, before this process takes the file in which it would look.
  ///
  /// - Returns: nil if there is none left.
  private static func settle(
    _ invocation: Invocation, in world: World, host: LocalHost
  ) throws(CommandError) -> Ending? {
    let null = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
    guard null >= 0 else { throw .io("opening /dev/null", errno: errno) }
    defer { close(null) }
    var quiet = world
    quiet.standardOutput = null
    let ending = try run(
      invocation, AgentRun(toKeeper: KeeperStatus.words, in: world), KeeperStatus.self,
      on: connection(in: world), in: quiet, host: host, vaultFiles: nil
    ) { end throws(CommandError) in throw unserved(end) }
    return ending == .exit(.done) ? nil : ending
  }

  private static func unserved(_ end: AgentSession.End) -> CommandError {
    switch end {
    case .refused(let refusal):
      CommandError(
        refusal.reason == .vaultChanged ? .noVault : .io, "the keeper did not run this: \(refusal.text)",
        hint: hint(refusal), code: "keeperRefused")
    case .notTaken(.ended): CommandError(KeeperPlace.Flaw.isDead)
    default: CommandError(.io, "the keeper does not answer", hint: restart, code: "keeperSilent")
    }
  }

  private static func hint(_ refusal: AgentRefusal) -> String? {
    switch refusal.reason {
    case .version: restart
    case .full: "try again when that has ended"
    default: nil
    }
  }

  /// The person's side of a move.
  ///
  /// - Returns: nil for a verb that moves nothing.
  private static func side(
    _ verb: any VaultVerb.Type, _ invocation: Invocation, in world: World, messages: Messages
  ) throws(CommandError) -> PersonsSide? {
    let command = Command(
      invocation, in: world, messages: messages,
      vault: OpenVault(invocation: invocation, world: world, messages: messages), emit: { _ in })
    do {
      switch verb {
      case is KeeperAdopt.Type: return try KeeperAdopt.side(command)
      case is KeeperLeave.Type: return try KeeperLeave.side(command)
      default: return nil
      }
    } catch { throw CommandError(describing: error) }
  }

  private static let restart = "have an administrator restart it: systemctl restart vault-keeper@$(id -u)"

  private static func rootsWork(_ verb: any VaultVerb.Type) -> CommandError {
    CommandError(
      .refused,
      "in the keeper, '\(verb.words.joined(separator: " "))' is done by an administrator, who is a person",
      hint: "sudo vault-keeper run \"$USER\" -- \(verb.words.joined(separator: " ")) …", code: "personNeeded")
  }
}

extension CommandError {
  /// Why the keeper is not used.
  init(_ flaw: KeeperPlace.Flaw) {
    let start = "have an administrator start it: systemctl start vault-keeper@$(id -u)"
    switch flaw {
    case .isAbsent: self.init(.io, "no keeper serves you", hint: start, code: "noKeeper")
    case .isDead: self.init(.io, "the keeper has ended", hint: start, code: "noKeeper")
    case .isForeign(let path):
      self.init(
        .refused, "the keeper's socket is not used: others than root could have made \(printable(path))",
        hint: "have an administrator look at it", code: "keeperNotTrusted")
    case .failed(let path, EACCES):
      self.init(
        .io, "a program has closed \(printable(path)) to you",
        hint: "open it again: chmod 600 \(printable(path))", code: "keeperClosed")
    case .failed(_, let code): self = .io("connecting to the keeper", errno: code)
    }
  }
}
