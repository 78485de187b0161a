import AgentMessages
import CommandLineKit
import VaultCommands
import VaultKit

extension AgentService {
  /// Why the agent does nothing for a request, so that the command does it by itself; nil if it runs it.
  ///
  /// - Parameter isInReserve: Whether only a command that is about the agent itself is run.
  func refusal(of run: AgentRun, isOfThisProtocol: Bool, isInReserve: Bool) -> AgentRefusal? {
    if hasToStop { return .ending }
    guard !isInReserve || Self.alwaysRun.contains(where: { run.words.starts(with: $0) }) else {
      return .tooManyCommands
    }
    // The command of another version must be able to end this agent.
    guard
      (run.version == world.agentVersion && isOfThisProtocol)
        || !world.isKeeper && run.words.starts(with: ["agent", "stop"])
    else {
      return AgentRefusal(.version, "the agent is of version \(world.agentVersion)")
    }
    if world.isKeeper { return refusalOfKeeper(of: run) }
    guard let vault = run.vault, let identity = vault.identity else { return nil }
    let file = FileIdentity(device: identity.device, inode: identity.inode)
    guard FileIdentity(of: vault.path) == file else {
      return AgentRefusal(.vaultChanged, "another file has got the path of the vault meanwhile")
    }
    guard isOwnPlace(of: run), vaults.accepts(file, deviceKey: run.deviceKey) else {
      return AgentRefusal(.otherKey, "the agent looks for device keys elsewhere than the command")
    }
    guard vaults.hasRoom(for: file) else { return AgentRefusal(.full, "the agent has too many vaults open") }
    return nil
  }

  /// The words of the commands that lock, or show what is unlocked: these run also while the agent runs as many others as it can.
  private static let alwaysRun = [["lock"], ["agent", "stop"], ["agent", "status"], ["grant"]]

  /// Whether a command does nothing in a keeper that has no vault: two say that there is none, or need that.
  func needsVault(_ run: AgentRun) -> Bool {
    !["status", "adopt"].contains { run.words.starts(with: ["keeper", $0]) }
  }

  /// Why the keeper has no vault.
  var noVault: String {
    do throws(VaultError) {
      _ = try VaultPath.unnamed(in: StandardDirectory(at: world.keeper.vaults))
    } catch {
      return error.message
    }
    return
      "it has no vault yet; move yours into it with 'vaultctl keeper adopt', or have an administrator make one: "
      + "sudo vault-keeper run \"$USER\" -- init"
  }

  /// What a keeper runs also while its vault is being moved.
  static let duringMoves = [["lock"], ["keeper", "status"]]

  /// The same for the standard input, output and error of the command, which came after its request.
  func refusal(of descriptors: [Int32]) -> AgentRefusal? {
    if hasToStop { return .ending }
    guard !descriptors.contains(where: vaults.holds) else {
      return AgentRefusal(.vaultAsInput, "a descriptor of the command is a file of a vault that is open")
    }
    return nil
  }

  /// Why a keeper does nothing: its vault is one, and no command says where it is or what opens it.
  private func refusalOfKeeper(of run: AgentRun) -> AgentRefusal? {
    guard run.deviceKey == nil, run.vault == AgentRun.Vault(path: world.keeper.vault, identity: nil) else {
      return AgentRefusal(.otherKey, "the keeper has one vault, with its own device key")
    }
    if let move, !Self.duringMoves.contains(where: { run.words.starts(with: $0) }) {
      return AgentRefusal(.full, move)
    }
    guard let file = file(of: run) else {
      // After a move that was interrupted there can be one.
      guard needsVault(run), !KeeperMove.isUnsettled(in: world.keeper) else { return nil }
      return AgentRefusal(.vaultChanged, noVault)
    }
    return vaults.hasRoom(for: file) ? nil : AgentRefusal(.full, "the keeper is replacing its vault")
  }

  /// The vault file of a request: what the client has found, or what the keeper has.
  func file(of run: AgentRun) -> FileIdentity? {
    guard !world.isKeeper else { return FileIdentity(of: world.keeper.vault) }
    return run.vault?.identity.map { FileIdentity(device: $0.device, inode: $0.inode) }
  }

  /// The variables that a verb sees: those of the client, of which a keeper takes only how to print.
  func environment(of run: AgentRun) -> Environment {
    guard world.isKeeper else { return Environment(run.variables) }
    let (own, clients) = (world.environment, run.variables)
    return Environment { AgentRun.printingVariables.contains($0) ? clients[$0] : own[$0] }
  }

  /// Whether the standard place of device keys is the same for the command and the agent.
  private func isOwnPlace(of run: AgentRun) -> Bool {
    ["XDG_STATE_HOME", "XDG_DATA_HOME", "HOME"].allSatisfy {
      (run.variables[$0] ?? "") == (world.environment[$0] ?? "")
    }
  }
}

extension AgentRefusal {
  static let ending = AgentRefusal(.ending, "the agent is ending")
  static let tooManyCommands = AgentRefusal(.full, "the agent serves too many commands")
  static let noDescriptors = AgentRefusal(.full, "the agent has no descriptor left for a command")
  static let noThread = AgentRefusal(.full, "the agent cannot start another thread")
  static let silent = AgentRefusal(.full, "the command was silent for too long, or others needed its place")
}
