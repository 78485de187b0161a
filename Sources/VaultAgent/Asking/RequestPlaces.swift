import AgentMessages
import VaultCommands
import VaultKit
import VaultPrompts

/// Where the person is asked for one request, as the setting of the agent says. Nothing that the request says changes it.
///
/// The kernel is asked about the command when a person is: most commands ask none.
struct RequestPlaces: PromptPlaces {
  private let service: AgentService
  private let file: FileIdentity?
  private let command: Caller
  private let connection: AgentSocket

  init(_ service: AgentService, _ request: AgentRequest) {
    (self.service, file, command) = (service, request.file, request.caller)
    connection = request.link.socket
  }

  /// A program can have others start a command, so this is advisory. One that is hidden or gone by now is named as not known.
  var requester: PromptRequest.Requester? {
    guard
      let program = MeasuredProgram(
        starting: command, over: connection.descriptor, knowing: service.executables)
    else {
      return .unknown
    }
    var requester = program.requester
    requester.command = program.command
    return requester
  }

  var startsByHand: Bool { service.world.isKeeper && service.asking.terminal != nil }

  /// - Throws: If the process of the command has ended: another one that has its connection is not named in the question.
  func beginPrompt() throws(VaultError) {
    guard MeasuredProgram.hasPeer(connection.descriptor) else {
      throw VaultError(.interactionNotAllowed, "the process that has asked is gone")
    }
    try service.prompts.enter(command)
  }
  func endPrompt() { service.prompts.leave(command) }

  var presencePlace: PromptPlace { judging("the login password") }
  var readerPlace: PromptPlace { judging("the fingerprint reader") }

  /// In a keeper, a verdict of the process of the command would be its word.
  private func judging(_ name: String) -> PromptPlace {
    guard service.world.isKeeper else { return place }
    // What a person cannot be told of is not verified either.
    if case .nowhere(let why) = place { return .nowhere(why) }
    return .here(placeHere(.automatic, named: name))
  }

  var place: PromptPlace {
    switch service.asking {
    case .client: .client
    case .pinentry: here(.pinentry, named: "pinentry")
    case .finger: .finger(placeHere(.automatic, named: "the fingerprint reader"))
    case .terminal(let path) where service.world.isKeeper:
      place(
        PersonsTerminal(path: path), orElse: "\(path), where the keeper asks, is not its terminal any more",
        hint: "have an administrator start the keeper again, with a terminal on which nobody logs in")
    case .terminal(let path):
      place(
        PersonsTerminal(path: path),
        orElse: "\(path), where the agent asks, is no terminal of yours any more",
        hint:
          "name another one: 'vaultctl agent stop', then 'vaultctl agent start --ask terminal --terminal PATH'"
      )
    case .unlocker: unlocker
    }
  }

  private var unlocker: PromptPlace {
    guard let file, service.vaults.isUnlocked(file) else { return .client }
    guard let terminal = service.vaults.unlocker(of: file) else {
      return nowhere(
        "the agent does not know the terminal from which the vault was unlocked",
        Self.unlockThere)
    }
    return place(
      terminal, orElse: "the terminal from which the vault was unlocked is gone", hint: Self.unlockThere)
  }

  private static let unlockThere =
    "on the terminal that is to be asked: 'vaultctl lock', then 'vaultctl unlock'"

  private func place(_ terminal: PersonsTerminal, orElse problem: String, hint: String) -> PromptPlace {
    terminal.isThere ? here(.terminal, at: terminal.path, named: terminal.path) : nowhere(problem, hint)
  }

  private func here(
    _ way: AutomaticPrompt.Way, at path: String? = nil, named name: String
  ) -> PromptPlace { .here(placeHere(way, at: path, named: name)) }

  private func placeHere(
    _ way: AutomaticPrompt.Way, at path: String? = nil, named name: String
  ) -> PlaceHere {
    guard var host = service.world.host as? LocalHost else {
      preconditionFailure("RequestPlaces.placeHere: an agent has a host of its own")
    }
    if let path {
      host.terminalPath = path
      // On a terminal of the person, their programs can type themselves.
      if service.world.isKeeper { host.cuts = service.cuts }
    }
    let isOfCommand = path != nil && path == PersonsTerminal(controlling: command)?.path
    return PlaceHere(host, way, named: name, isOfCommand: isOfCommand)
  }

  private func nowhere(_ problem: String, _ hint: String) -> PromptPlace {
    .nowhere(VaultError(.interactionNotAllowed, problem, hint: hint))
  }
}
